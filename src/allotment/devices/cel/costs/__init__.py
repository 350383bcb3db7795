"""What an expression costs: the most that it can (``estimate``), and what it did on one device (``counted``).

Kubernetes refuses a selector whose estimate passes a million and stops an evaluation that passes it. The
units and rules are those of cel-go (``checker/cost.go``, ``interpreter/runtimecost.go``) and of Kubernetes'
``pkg/cel/library/cost.go``.
"""
