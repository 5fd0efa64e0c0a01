//! The faults of errors and their consequences.

/// The party that has to act on an error. It decides the exit code of a command and whether a job is retried.
///
/// | fault | exit code | a job |
/// |---|---|---|
/// | `User` | 2 | becomes a dead letter at once |
/// | `Transient` | 75 | is retried with backoff |
/// | `Permanent` | 1 | is retried until `jobs.patience_ms` has passed, without counting attempts, then parked |
/// | `Bug` | 70 | becomes a dead letter after its attempts |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The input is wrong; the same call fails again until its caller changes it.
    User,
    /// A temporary failure: a refused connection, a timeout, a rate limit.
    Transient,
    /// The set-up is wrong (a key, a model, a schema): an operator has to fix it.
    Permanent,
    /// A bug in HTM.
    Bug,
}

impl Fault {
    /// The exit code of a process that ends with this fault (`sysexits.h` where it has one).
    pub fn exit_code(self) -> u8 {
        match self {
            Fault::User => 2,
            Fault::Transient => 75,
            Fault::Permanent => 1,
            Fault::Bug => 70,
        }
    }
}
