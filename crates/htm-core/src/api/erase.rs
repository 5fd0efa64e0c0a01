//! Erasing: removes memories with every trace, at once, without the time in which a forgotten one can be restored. A
//! receipt says what was removed, and a verification looks for traces.

mod caches;

use std::time::Duration;

use serde_json::json;

pub use self::caches::ErasureFollower;
use crate::api::htm::Htm;
use crate::model::caller::{Caller, Confirmation};
use crate::model::erase::{Erase, ErasePlan, Erasure, Verification, nothing, written_meanwhile};
use crate::model::error::{Error, Result, codes};
use crate::model::filter::validate_limit;
use crate::model::memory::refuse_nul;
use crate::model::nodes::not_found;
use crate::store::again::{again, met_another};
use crate::store::erase::proof::whole;
use crate::store::erase::{self as store, Selected, proof, rest};
use crate::store::nodes::namespaces_of;

/// The number of times that the memories are removed that others write to a namespace while it is erased.
const ROUNDS: u32 = 100;
/// The pause between two of them: writers end in it.
const PAUSE: Duration = Duration::from_millis(100);

/// A selection with the ids of its names.
struct Resolved<'a> {
    selected: Selected<'a>,
    namespaces: Vec<String>,
}

impl Htm {
    /// Counts what [`erase`](Self::erase) would remove, and shows the first memories. Removes nothing.
    ///
    /// # Errors
    /// `node_not_found`, `robot_unknown`, `content_empty`, `nul_byte`, `nothing_to_erase`, `namespace_invalid`,
    /// `namespace_forbidden`, `robot_forbidden` on a handle that acts as a robot, or a database error.
    pub async fn plan_erase(&self, what: &Erase) -> Result<ErasePlan> {
        let resolved = self.resolve(what).await?;
        let plan = store::plan(self.pool(), &resolved.selected).await?;
        if let (0, Erase::Namespace(namespace)) = (plan.memories, what) {
            let mut connection = self.shared_pool().acquire().await?;
            if !store::is_interrupted(&mut connection, namespace).await?
                && !store::is_there(&mut connection, namespace).await?
            {
                return Err(nothing("nothing is stored of the namespace"));
            }
        }
        Ok(plan)
    }

    /// Erases memories, live and forgotten ones, with all that is stored about them, and returns the receipt. It cannot
    /// be undone. Each transaction removes 1,000 memories; an interrupted erasure is
    /// [resumed](Self::resume_erasure), that of a namespace also by erasing the namespace again. With the number of a
    /// [plan](Self::plan_erase), it fails if the memories have changed since.
    ///
    /// It removes a memory for every robot that remembered it, so robots do not get it as a tool.
    ///
    /// ```no_run
    /// # async fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
    /// use htm_core::{Confirmation, Erase, NodeId};
    /// let erased = htm.erase(&Erase::Memories(vec![NodeId(7)]), None, Confirmation::Confirmed).await?;
    /// assert!(htm.verify_erasure(erased.id, None).await?.is_clean);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`plan_erase`](Self::plan_erase), `not_confirmed`, `plan_missing` for a text, `erase_plan_changed`: nothing is
    /// removed then. `contended` if others write to a namespace all the time, or a database error: the erasure can be
    /// resumed then.
    pub async fn erase(
        &self,
        what: &Erase,
        plan: Option<&str>,
        confirmation: Confirmation,
    ) -> Result<Erasure> {
        let begun = self.begin_erasure(what, plan, confirmation).await?;
        self.resume_erasure(begun.id, |_| {}).await?;
        self.vacuum_erased(begun.id).await
    }

    /// Records what is to be erased, and removes nothing yet. An erasure of the namespace that has not ended is continued: a
    /// second one would leave it open, and its resumption would remove what is written after the end of the second.
    ///
    /// # Errors
    /// Those of [`erase`](Self::erase) with which nothing is removed.
    pub async fn begin_erasure(
        &self,
        what: &Erase,
        plan: Option<&str>,
        confirmation: Confirmation,
    ) -> Result<Erasure> {
        let Resolved { selected, namespaces } = self.resolve(what).await?;
        confirmation.require(|| "erasing".into())?;
        // A text may select others than its writer thinks: "7" is in "70".
        if plan.is_none() && matches!(what, Erase::Matching { .. }) {
            let message = "erasing by a text needs the plan of what it erases; nothing is erased";
            return Err(Error::new(codes::PLAN_MISSING, message));
        }
        let robot = match what {
            Erase::Robot { robot, .. } => Some(robot.as_str()),
            _ => None,
        };
        let of: Vec<&str> = namespaces.iter().map(String::as_str).collect();
        let mut tx = store::begin(self.shared_pool()).await?;
        let interrupted = match what {
            Erase::Namespace(namespace) => store::interrupted_in_tx(&mut tx, namespace).await?,
            _ => None,
        };
        let (erasure, recorded) = match interrupted {
            Some(erasure) => {
                let recorded = store::digest_in_tx(&mut tx, &selected).await?;
                store::record_rest_in_tx(&mut tx, erasure, &selected).await?;
                (erasure, recorded)
            }
            None => {
                let erasure = store::open_in_tx(&mut tx, self.actor(), what.kind(), robot, &of).await?;
                (erasure, store::record_in_tx(&mut tx, erasure, &selected).await?)
            }
        };
        if plan.is_some_and(|plan| plan != recorded.digest) {
            let message = "the memories to erase are not those of the plan; nothing is erased";
            return Err(Error::new(codes::ERASE_PLAN_CHANGED, message));
        }
        if recorded.memories == 0 && interrupted.is_none() {
            let Erase::Namespace(namespace) = what else { return Err(nothing("no memory is selected")) };
            if !store::is_there(&mut tx, namespace).await? {
                return Err(nothing("nothing is stored of the namespace"));
            }
        }
        let subject = erasure.to_string();
        // Of several namespaces together, the receipt has the number.
        let memories = (of.len() == 1).then_some(recorded.memories);
        let details = json!({"kind": what.kind(), "robot": robot, "memories": memories});
        self.record_in_each_in_tx(&mut tx, &of, self.done("erase", None, Some(&subject), details)).await?;
        tx.commit().await?;
        self.erasure(erasure).await
    }

    /// Goes on with an erasure, and ends it; one that has ended is done again for what came back since. `progress` sees
    /// the receipt after each transaction.
    ///
    /// # Errors
    /// `erasure_unknown`, `robot_forbidden` on a handle that acts as a robot, `contended`, or a database error.
    pub async fn resume_erasure(&self, erasure: i64, mut progress: impl FnMut(&Erasure)) -> Result<Erasure> {
        self.admit_caller(&Caller::AnyRobot)?;
        let begun = self.erasure(erasure).await?;
        // The namespace may be in use again after its erasure.
        let open_namespace = whole(&begun).filter(|_| begun.ended_at.is_none());
        for round in 0.. {
            while self.remove_next(erasure).await? {
                progress(&self.erasure(erasure).await?);
            }
            let Some(namespace) = open_namespace else { break };
            let is_empty = !store::record_rest(self.shared_pool(), erasure, namespace).await?;
            if is_empty && rest::namespace(self.shared_pool(), erasure, namespace).await? {
                break;
            }
            if round == ROUNDS {
                return Err(written_meanwhile(&self.erasure(erasure).await?));
            }
            tokio::time::sleep(PAUSE).await;
        }
        rest::jobs(self.shared_pool(), erasure).await?;
        rest::erase_answers(self.shared_pool(), erasure, whole(&begun)).await?;
        if whole(&begun).is_none() {
            rest::tags(self.shared_pool(), erasure).await?;
        }
        if open_namespace.is_none() {
            rest::words(self.shared_pool(), &begun).await?;
        }
        store::end(self.shared_pool(), erasure).await?;
        self.drop_erased().await?;
        store::notify(self.shared_pool(), erasure).await;
        self.erasure(erasure).await
    }

    /// Frees the space of the removed rows: vacuums the tables that the program's role may vacuum. The receipt says which,
    /// and whether an older transaction was in the way. Waits for such for five seconds.
    ///
    /// # Errors
    /// `erasure_unknown`, or a database error.
    pub async fn vacuum_erased(&self, erasure: i64) -> Result<Erasure> {
        proof::vacuum(self.shared_pool(), &self.erasure(erasure).await?).await?;
        self.erasure(erasure).await
    }

    /// Looks for traces of an erasure in every table of the database: by the ids of its memories, and for a text, if
    /// given, in every column. The text is kept nowhere. Reads much, and all tables for a text.
    ///
    /// # Errors
    /// `erasure_unknown`, `content_empty`, `nul_byte`; `namespace_forbidden` for a text on a handle with a wall; or a
    /// database error.
    pub async fn verify_erasure(&self, erasure: i64, text: Option<&str>) -> Result<Verification> {
        let erasure = self.erasure(erasure).await?;
        if let Some(text) = text {
            self.admit_all()?;
            Erase::Matching { text: text.into(), namespace: None }.validate()?;
            refuse_nul("text", text)?;
        }
        proof::verify(self.shared_pool(), erasure, text).await
    }

    /// The receipt of an erasure.
    ///
    /// # Errors
    /// `erasure_unknown`, also for one of namespaces that the handle does not see; or a database error.
    pub async fn erasure(&self, erasure: i64) -> Result<Erasure> {
        store::get(self.shared_pool(), erasure, self.namespaces()).await
    }

    /// The last receipts before that of the erasure `before`, the newest first. A restricted handle sees those of its
    /// namespaces.
    ///
    /// # Errors
    /// `limit_out_of_range` (1 to 10,000), or a database error.
    pub async fn erasures(&self, before: Option<i64>, limit: usize) -> Result<Vec<Erasure>> {
        validate_limit(limit)?;
        store::list(self.shared_pool(), self.namespaces(), before, limit as i64).await
    }

    /// Removes the next nodes; false if there are none. Tries again if a background save of another process waits for
    /// what this one holds, and holds what this one waits for.
    async fn remove_next(&self, erasure: i64) -> Result<bool> {
        again(met_another, || store::step(self.shared_pool(), erasure)).await
    }

    /// Checks a selection, and finds the ids of its names.
    async fn resolve<'a>(&'a self, what: &'a Erase) -> Result<Resolved<'a>> {
        let in_one = |namespace: &str, selected: Selected<'a>| {
            Ok(Resolved { selected, namespaces: vec![namespace.to_owned()] })
        };
        self.admit_caller(&Caller::AnyRobot)?;
        match what {
            Erase::Memories(nodes) => {
                what.validate()?;
                self.admit_nodes(nodes).await?;
                let found = namespaces_of(self.pool(), nodes).await?;
                if let Some(missing) = nodes.iter().find(|node| !found.contains_key(node)) {
                    return Err(not_found(*missing));
                }
                let mut namespaces: Vec<String> = found.into_values().collect();
                namespaces.sort();
                namespaces.dedup();
                Ok(Resolved { selected: Selected { nodes: Some(nodes), ..Selected::default() }, namespaces })
            }
            Erase::Matching { text, namespace } => {
                let namespace = self.namespace_or_own(namespace.as_deref())?;
                what.validate()?;
                let text = Some(text.as_str());
                in_one(namespace, Selected { namespace: Some(namespace), text, ..Selected::default() })
            }
            Erase::Robot { robot, namespace } => {
                let namespace = self.namespace_or_own(namespace.as_deref())?;
                what.validate()?;
                let robot = Some(self.find_robot(Some(namespace), robot).await?.id);
                in_one(namespace, Selected { namespace: Some(namespace), robot, ..Selected::default() })
            }
            Erase::Namespace(namespace) => {
                let namespace = self.admit(namespace)?;
                in_one(namespace, Selected { namespace: Some(namespace), ..Selected::default() })
            }
        }
    }
}
