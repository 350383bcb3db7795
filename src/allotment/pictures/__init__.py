"""Pictures of plain numbers: charts as SVG, and pages that need nothing but themselves.

Nothing here knows what the numbers mean; whoever shows a plan or a comparison says what stands where.
"""
