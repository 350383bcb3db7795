"""The bucket: where results go, and the only record of what is done. A folder, or an object store.

Everything that is written is written once: a key that exists is never written again.
"""
