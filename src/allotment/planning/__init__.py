"""Plan, compare, why, measure, as values: what there is to say, worked out before anybody shows it."""
