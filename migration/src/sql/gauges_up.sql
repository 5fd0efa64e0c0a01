-- Any number of workers is scraped every few seconds: no count may walk over the jobs that are done or simply wait.
create index jobs_htm_dead_idx on apalis.jobs (job_type) where status in ('Killed', 'Failed');
create index jobs_htm_parked_idx on apalis.jobs (job_type) where status = 'Pending' and metadata ? 'parked';
