//! Permits for what takes long: streams of events, imports, exports. The keys of the same namespaces get a part of them
//! only.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use htm_core::Htm;

use crate::codes;
use crate::problem::{Problem, Result};

/// The permits of the process for one kind of request.
pub(crate) struct Permits {
    what: &'static str,
    most: usize,
    most_of_a_tenant: usize,
    /// The namespaces of those who hold permits, with the number of them. None: all namespaces.
    held: Mutex<BTreeMap<Option<Vec<String>>, usize>>,
}

/// A permit. It ends when it is dropped.
pub(crate) struct Permit {
    of: &'static Permits,
    namespaces: Option<Vec<String>>,
}

impl Permits {
    /// `what` follows a number: "imports are running".
    pub(crate) const fn new(what: &'static str, most: usize, most_of_a_tenant: usize) -> Self {
        Self { what, most, most_of_a_tenant, held: Mutex::new(BTreeMap::new()) }
    }

    /// A permit for a request with this handle.
    ///
    /// # Errors
    /// `too_busy`.
    pub(crate) fn take(&'static self, htm: &Htm) -> Result<Permit> {
        let mut namespaces = htm.namespaces().map(<[String]>::to_vec);
        namespaces.iter_mut().for_each(|it| it.sort());
        self.take_for(namespaces)
    }

    fn take_for(&'static self, namespaces: Option<Vec<String>>) -> Result<Permit> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.get(&namespaces).copied().unwrap_or_default();
        let refused = |most, whose| {
            let problem = format!("{most} {}{whose}, as many as may at a time", self.what);
            Err(Problem::new(codes::TOO_BUSY, problem))
        };
        if held.values().sum::<usize>() >= self.most {
            return refused(self.most, "");
        }
        if namespaces.is_some() && own >= self.most_of_a_tenant {
            return refused(self.most_of_a_tenant, " for the namespaces of this key");
        }
        held.insert(namespaces.clone(), own + 1);
        Ok(Permit { of: self, namespaces })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut held = self.of.held.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get_mut(&self.namespaces) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(held.remove(&self.namespaces)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_gets_a_part_of_them_and_gives_them_back() {
        static PERMITS: Permits = Permits::new("imports are running", 4, 2);
        let tenant = |name: &str| Some(vec![name.to_owned()]);
        let refused = |namespaces| {
            let problem = PERMITS.take_for(namespaces).map(drop).unwrap_err();
            serde_json::to_value(problem.details()).unwrap()["detail"].clone()
        };
        let mut own = vec![PERMITS.take_for(tenant("a")).unwrap(), PERMITS.take_for(tenant("a")).unwrap()];
        let said = "2 imports are running for the namespaces of this key, as many as may at a time";
        assert_eq!(refused(tenant("a")), said);
        let others = [PERMITS.take_for(tenant("b")).unwrap(), PERMITS.take_for(None).unwrap()];
        assert_eq!(refused(tenant("c")), "4 imports are running, as many as may at a time");
        own.pop();
        assert!(PERMITS.take_for(tenant("a")).is_ok());
        drop((own, others));
        assert!(PERMITS.held.lock().unwrap().is_empty());
        // Who sees all namespaces may have all of them.
        let all = [(); 4].map(|()| PERMITS.take_for(None).unwrap());
        assert_eq!(refused(None), "4 imports are running, as many as may at a time");
        drop(all);
    }
}
