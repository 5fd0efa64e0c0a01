drop index if exists apalis.jobs_htm_parked_idx;
drop index if exists apalis.jobs_htm_dead_idx;
