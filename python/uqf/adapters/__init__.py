"""Bridges to other libraries; each needs an extra and is imported only when one of its names is used."""
