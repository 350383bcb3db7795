"""The one event format, and the read model that `status`, the live view and the pages share.

Whoever runs a campaign says what happens as events; nobody who reads them needs to know who wrote them.
"""
