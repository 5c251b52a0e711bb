-- Joins the counts, sums and sums of squared differences from the mean of disjoint points, as PostgreSQL does for parallel
-- aggregates: float8_var_samp and float8_stddev_samp of the result are those of all points.
create or replace aggregate merge_moments(float8[]) (
  sfunc = float8_combine, stype = float8[], combinefunc = float8_combine, initcond = '{0,0,0}', parallel = safe);
