"""Logs in files: Parquet, Arrow, CSV and JSON Lines as episodes."""
