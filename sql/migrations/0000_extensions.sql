-- Hypertables come from TimescaleDB; the Apache edition is enough.
create extension if not exists timescaledb;
