//! The steps before this process can use a database, for whoever waits for them.

use std::sync::LazyLock;

use tokio::sync::watch;

static DOING: LazyLock<watch::Sender<Option<&'static str>>> = LazyLock::new(|| watch::Sender::new(None));

/// The step before this process can use a database, as it begins and ends: `starting PostgreSQL`. None: there is none.
pub fn doing() -> watch::Receiver<Option<&'static str>> {
    DOING.subscribe()
}

/// Something that is being done until this is dropped.
pub(crate) struct Doing;

impl Doing {
    pub(crate) fn begin(what: &'static str) -> Self {
        DOING.send_replace(Some(what));
        Self
    }
}

impl Drop for Doing {
    fn drop(&mut self) {
        DOING.send_replace(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_being_done_is_told_until_its_end() {
        let told = doing();
        let begun = Doing::begin("starting PostgreSQL");
        assert_eq!(*told.borrow(), Some("starting PostgreSQL"));
        drop(begun);
        assert_eq!(*told.borrow(), None);
    }
}
