-- Joins the moments of disjoint sets of points, as PostgreSQL does for parallel aggregates. The moments of a set are its
-- count, its sum, and the sum of the squared differences from its mean. float8_var_samp and float8_stddev_samp of the
-- result are the sample variance and the sample standard deviation of all points.
create or replace aggregate merge_moments(float8[]) (
  sfunc = float8_combine, stype = float8[], combinefunc = float8_combine, initcond = '{0,0,0}', parallel = safe);
