-- Units of measure and how they convert (R-C8). Ids are stable: clients and variables keep them, so rows are only ever
-- added. A variable may carry a unit that is not here: it cannot be converted, and nothing else depends on it.

create table unit_family (
  id int primary key,
  name text not null unique check (name <> '')
);
comment on table unit_family is 'Units that convert into one another (R-C8)';
comment on column unit_family.id is 'Stable number';
comment on column unit_family.name is 'English name of the quantity';

create table unit (
  id int primary key,
  name text not null unique check (name <> ''),
  symbol text not null,
  unit_family_id int not null references unit_family (id),
  divisor double precision not null check (divisor <> 0),
  zero_offset double precision not null default 0
);
comment on table unit is 'A value in the base unit of the family is (value - offset) / divisor (R-C8)';
comment on column unit.id is 'Stable number, the unitId of variables';
comment on column unit.name is 'English name';
comment on column unit.symbol is 'As written after a value; empty for plain numbers';
comment on column unit.unit_family_id is 'What it can be converted into';
comment on column unit.divisor is 'How many of it make one base unit';
comment on column unit.zero_offset is 'What it shows where the base unit shows zero; the interface calls it offset';

insert into unit_family (id, name) values
  (1, 'Dimensionless'),
  (2, 'Energy'),
  (3, 'Power'),
  (4, 'Reactive energy'),
  (5, 'Reactive power'),
  (6, 'Apparent energy'),
  (7, 'Apparent power'),
  (8, 'Voltage'),
  (9, 'Electric current'),
  (10, 'Frequency'),
  (11, 'Volume'),
  (12, 'Gas volume at normal conditions'),
  (13, 'Volume flow'),
  (14, 'Mass'),
  (15, 'Mass flow'),
  (16, 'CO2 equivalent'),
  (17, 'Temperature'),
  (18, 'Temperature difference'),
  (19, 'Pressure'),
  (20, 'Time'),
  (21, 'Length'),
  (22, 'Area'),
  (23, 'Speed'),
  (24, 'Irradiance'),
  (25, 'Illuminance'),
  (26, 'Angle'),
  (27, 'Mass concentration'),
  (28, 'Calorific value'),
  (29, 'Energy per area'),
  (30, 'Degree days'),
  (31, 'Sound level'),
  (32, 'Pieces'),
  (33, 'Electric charge'),
  (34, 'Gas flow at normal conditions'),
  (35, 'CO2 intensity of energy');

-- The base unit of each family has divisor 1 and no offset, and stands first.
insert into unit (id, name, symbol, unit_family_id, divisor, zero_offset) values
  (1, 'number', '', 1, 1, 0),
  (2, 'percent', '%', 1, 100, 0),
  (3, 'per mille', '‰', 1, 1000, 0),
  (4, 'parts per million', 'ppm', 1, 1e6, 0),
  (5, 'parts per billion', 'ppb', 1, 1e9, 0),

  (8, 'kilowatt hour', 'kWh', 2, 1, 0),
  (7, 'watt hour', 'Wh', 2, 1000, 0),
  (9, 'megawatt hour', 'MWh', 2, 1e-3, 0),
  (10, 'gigawatt hour', 'GWh', 2, 1e-6, 0),
  (11, 'joule', 'J', 2, 3.6e6, 0),
  (12, 'kilojoule', 'kJ', 2, 3600, 0),
  (13, 'megajoule', 'MJ', 2, 3.6, 0),
  (14, 'gigajoule', 'GJ', 2, 0.0036, 0),
  (15, 'kilocalorie', 'kcal', 2, 3600 / 4.184::float8, 0),
  (16, 'British thermal unit', 'BTU', 2, 3600 / 1.05505585262::float8, 0),
  (17, 'therm', 'thm', 2, 3600 / 105505.585262::float8, 0),
  (18, 'tonne of oil equivalent', 'toe', 2, 1 / 11630::float8, 0),

  (20, 'kilowatt', 'kW', 3, 1, 0),
  (21, 'watt', 'W', 3, 1000, 0),
  (22, 'megawatt', 'MW', 3, 1e-3, 0),
  (23, 'gigawatt', 'GW', 3, 1e-6, 0),
  (24, 'metric horsepower', 'PS', 3, 1 / 0.73549875::float8, 0),

  (30, 'kilovolt-ampere reactive hour', 'kvarh', 4, 1, 0),
  (31, 'volt-ampere reactive hour', 'varh', 4, 1000, 0),
  (32, 'megavolt-ampere reactive hour', 'Mvarh', 4, 1e-3, 0),

  (33, 'kilovolt-ampere reactive', 'kvar', 5, 1, 0),
  (34, 'volt-ampere reactive', 'var', 5, 1000, 0),
  (35, 'megavolt-ampere reactive', 'Mvar', 5, 1e-3, 0),

  (36, 'kilovolt-ampere hour', 'kVAh', 6, 1, 0),
  (37, 'volt-ampere hour', 'VAh', 6, 1000, 0),
  (38, 'megavolt-ampere hour', 'MVAh', 6, 1e-3, 0),

  (39, 'kilovolt-ampere', 'kVA', 7, 1, 0),
  (40, 'volt-ampere', 'VA', 7, 1000, 0),
  (41, 'megavolt-ampere', 'MVA', 7, 1e-3, 0),

  (45, 'volt', 'V', 8, 1, 0),
  (46, 'millivolt', 'mV', 8, 1000, 0),
  (47, 'kilovolt', 'kV', 8, 1e-3, 0),

  (50, 'ampere', 'A', 9, 1, 0),
  (51, 'milliampere', 'mA', 9, 1000, 0),
  (52, 'kiloampere', 'kA', 9, 1e-3, 0),

  (55, 'hertz', 'Hz', 10, 1, 0),
  (56, 'millihertz', 'mHz', 10, 1000, 0),
  (57, 'kilohertz', 'kHz', 10, 1e-3, 0),
  (58, 'megahertz', 'MHz', 10, 1e-6, 0),
  (59, 'revolutions per minute', 'rpm', 10, 60, 0),

  (60, 'cubic metre', 'm³', 11, 1, 0),
  (61, 'litre', 'l', 11, 1000, 0),
  (62, 'millilitre', 'ml', 11, 1e6, 0),
  (63, 'hectolitre', 'hl', 11, 10, 0),
  (64, 'cubic foot', 'ft³', 11, 1 / 0.028316846592::float8, 0),
  (65, 'US gallon', 'gal (US)', 11, 1 / 0.003785411784::float8, 0),
  (66, 'imperial gallon', 'gal (imp.)', 11, 1 / 0.00454609::float8, 0),
  (67, 'oil barrel', 'bbl', 11, 1 / 0.158987294928::float8, 0),

  (70, 'normal cubic metre', 'Nm³', 12, 1, 0),
  (71, 'thousand normal cubic metres', 'kNm³', 12, 1e-3, 0),

  (75, 'cubic metre per hour', 'm³/h', 13, 1, 0),
  (76, 'cubic metre per second', 'm³/s', 13, 1 / 3600::float8, 0),
  (77, 'litre per hour', 'l/h', 13, 1000, 0),
  (78, 'litre per minute', 'l/min', 13, 1000 / 60::float8, 0),
  (79, 'litre per second', 'l/s', 13, 1000 / 3600::float8, 0),

  (80, 'kilogram', 'kg', 14, 1, 0),
  (81, 'milligram', 'mg', 14, 1e6, 0),
  (82, 'gram', 'g', 14, 1000, 0),
  (83, 'tonne', 't', 14, 1e-3, 0),
  (84, 'pound', 'lb', 14, 1 / 0.45359237::float8, 0),

  (85, 'kilogram per hour', 'kg/h', 15, 1, 0),
  (86, 'kilogram per second', 'kg/s', 15, 1 / 3600::float8, 0),
  (87, 'tonne per hour', 't/h', 15, 1e-3, 0),

  (90, 'kilogram of CO2 equivalent', 'kgCO2e', 16, 1, 0),
  (91, 'gram of CO2 equivalent', 'gCO2e', 16, 1000, 0),
  (92, 'tonne of CO2 equivalent', 'tCO2e', 16, 1e-3, 0),

  (95, 'degree Celsius', '°C', 17, 1, 0),
  (96, 'kelvin', 'K', 17, 1, 273.15),
  (97, 'degree Fahrenheit', '°F', 17, 1.8, 32),

  (98, 'kelvin of difference', 'K', 18, 1, 0),
  (99, 'degree Fahrenheit of difference', '°F', 18, 1.8, 0),

  (100, 'bar', 'bar', 19, 1, 0),
  (101, 'millibar', 'mbar', 19, 1000, 0),
  (102, 'pascal', 'Pa', 19, 1e5, 0),
  (103, 'hectopascal', 'hPa', 19, 1000, 0),
  (104, 'kilopascal', 'kPa', 19, 100, 0),
  (105, 'megapascal', 'MPa', 19, 0.1, 0),
  (106, 'standard atmosphere', 'atm', 19, 1 / 1.01325::float8, 0),
  (107, 'pound per square inch', 'psi', 19, 1 / 0.0689475729316836::float8, 0),
  (108, 'metre of water', 'mH2O', 19, 1 / 0.0980665::float8, 0),
  (109, 'millimetre of mercury', 'mmHg', 19, 1 / 0.00133322387415::float8, 0),

  (110, 'second', 's', 20, 1, 0),
  (111, 'millisecond', 'ms', 20, 1000, 0),
  (112, 'minute', 'min', 20, 1 / 60::float8, 0),
  (113, 'hour', 'h', 20, 1 / 3600::float8, 0),
  (114, 'day', 'd', 20, 1 / 86400::float8, 0),

  (120, 'metre', 'm', 21, 1, 0),
  (121, 'millimetre', 'mm', 21, 1000, 0),
  (122, 'centimetre', 'cm', 21, 100, 0),
  (123, 'kilometre', 'km', 21, 1e-3, 0),
  (124, 'inch', 'in', 21, 1 / 0.0254::float8, 0),
  (125, 'foot', 'ft', 21, 1 / 0.3048::float8, 0),
  (126, 'mile', 'mi', 21, 1 / 1609.344::float8, 0),

  (130, 'square metre', 'm²', 22, 1, 0),
  (131, 'square centimetre', 'cm²', 22, 10000, 0),
  (132, 'hectare', 'ha', 22, 1e-4, 0),
  (133, 'square kilometre', 'km²', 22, 1e-6, 0),
  (134, 'square foot', 'ft²', 22, 1 / 0.09290304::float8, 0),

  (140, 'metre per second', 'm/s', 23, 1, 0),
  (141, 'kilometre per hour', 'km/h', 23, 3.6, 0),
  (142, 'knot', 'kn', 23, 3600 / 1852::float8, 0),
  (143, 'mile per hour', 'mph', 23, 3600 / 1609.344::float8, 0),

  (145, 'watt per square metre', 'W/m²', 24, 1, 0),
  (146, 'kilowatt per square metre', 'kW/m²', 24, 1e-3, 0),

  (150, 'lux', 'lx', 25, 1, 0),
  (151, 'kilolux', 'klx', 25, 1e-3, 0),

  (155, 'degree', '°', 26, 1, 0),
  (156, 'radian', 'rad', 26, pi() / 180, 0),

  (160, 'milligram per cubic metre', 'mg/m³', 27, 1, 0),
  (161, 'microgram per cubic metre', 'µg/m³', 27, 1000, 0),
  (162, 'gram per cubic metre', 'g/m³', 27, 1e-3, 0),

  (165, 'kilowatt hour per cubic metre', 'kWh/m³', 28, 1, 0),
  (166, 'megajoule per cubic metre', 'MJ/m³', 28, 3.6, 0),

  (170, 'kilowatt hour per square metre', 'kWh/m²', 29, 1, 0),
  (171, 'megajoule per square metre', 'MJ/m²', 29, 3.6, 0),

  (175, 'kelvin day', 'K·d', 30, 1, 0),
  (176, 'kelvin hour', 'K·h', 30, 24, 0),

  (180, 'decibel', 'dB', 31, 1, 0),

  (185, 'piece', 'pcs', 32, 1, 0),
  (186, 'thousand pieces', 'kpcs', 32, 1e-3, 0),

  (190, 'ampere hour', 'Ah', 33, 1, 0),
  (191, 'milliampere hour', 'mAh', 33, 1000, 0),
  (192, 'coulomb', 'C', 33, 3600, 0),

  (195, 'normal cubic metre per hour', 'Nm³/h', 34, 1, 0),

  (200, 'gram of CO2 equivalent per kilowatt hour', 'gCO2e/kWh', 35, 1, 0),
  (201, 'kilogram of CO2 equivalent per megawatt hour', 'kgCO2e/MWh', 35, 1, 0);
