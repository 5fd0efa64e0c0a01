//! The contract of the pipeline, point by point, under faults: real processes, a real PostgreSQL, and a provider that
//! fails as providers do. After each, `htm jobs audit` finds nothing stranded.

#[path = "faults/crashes.rs"]
mod crashes;
#[path = "faults/database.rs"]
mod database;
#[path = "faults/fleet.rs"]
mod fleet;
#[path = "faults/leases.rs"]
mod leases;
#[path = "faults/outage.rs"]
mod outage;
#[path = "faults/poison.rs"]
mod poison;
#[path = "faults/provider.rs"]
mod provider;
#[path = "faults/silence.rs"]
mod silence;
#[path = "faults/stage.rs"]
mod stage;
#[path = "faults/told.rs"]
mod told;
