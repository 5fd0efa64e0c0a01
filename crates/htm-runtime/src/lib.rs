//! What every HTM process needs: configuration, telemetry, the private PostgreSQL.

pub mod paths;
pub mod private_pg;
