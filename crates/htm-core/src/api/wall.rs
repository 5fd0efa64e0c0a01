//! The wall: a handle restricted to some namespaces, or to a robot.

use std::collections::HashSet;

use crate::api::htm::Htm;
use crate::model::caller::Caller;
use crate::model::error::{Error, Result, codes};
use crate::model::id::NodeId;
use crate::model::memory::{MAX_NAME_BYTES, validate_name, validate_namespace, validate_written_namespace};
use crate::model::nodes::not_found;
use crate::model::wall::{Wall, default_of, is_within};
use crate::store::nodes::namespaces_of;
use crate::store::server;

impl Htm {
    /// A handle that reads and writes these namespaces and no others. Calls that name another namespace or ask about
    /// all fail; nodes of other namespaces are not found. `tenant-7/*` stands for every namespace below `tenant-7`. The
    /// default namespace is the handle's own if it is among these. Otherwise it is the first of these, or
    /// `tenant-7/default` if that is `tenant-7/*`. A restricted handle can only be restricted further.
    ///
    /// The wall restricts this library's calls. With [tenants](Self::with_tenants) PostgreSQL keeps the rows of other
    /// namespaces from them as well. A restricted handle does not return its [pool](Self::database_pool).
    ///
    /// ```no_run
    /// # fn example(htm: htm_core::Htm) -> htm_core::Result<()> {
    /// let tenant = htm.within(["atlas", "atlas-archive"])?;
    /// assert_eq!(tenant.settings().namespace, "atlas");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `namespace_invalid`, also for none at all; `namespace_forbidden` for one that this handle does not see.
    pub fn within(&self, namespaces: impl IntoIterator<Item = impl Into<String>>) -> Result<Htm> {
        let namespaces: Vec<String> = namespaces.into_iter().map(Into::into).collect();
        for namespace in &namespaces {
            self.admit(namespace)?;
        }
        let mut settings = self.settings().clone();
        settings.namespace = match namespaces.is_empty() {
            true => String::new(),
            false => default_of(&settings.namespace, &namespaces),
        };
        validate_namespace(&settings.namespace)?;
        let robot = self.bound_robot().map(Into::into);
        Ok(self.with_wall(Wall { namespaces: Some(namespaces), robot, settings }))
    }

    /// A handle that acts as this robot and no other: it opens no other, writes as no other, and changes only what this
    /// one remembered. It may read what others remembered.
    ///
    /// # Errors
    /// `robot_invalid`; `robot_forbidden` on a handle that acts as another robot.
    pub fn acting_as(&self, robot: &str) -> Result<Htm> {
        validate_name("robot", robot, MAX_NAME_BYTES)?;
        self.admit_robot(robot)?;
        let mut settings = self.settings().clone();
        settings.robot = robot.into();
        let namespaces = self.namespaces().map(<[String]>::to_vec);
        Ok(self.with_wall(Wall { namespaces, robot: Some(robot.into()), settings }))
    }

    /// Whether the database can restrict handles [with tenants](Self::with_tenants): its tables have policies for the role
    /// `htm_tenant`, and this handle's role may set that role.
    ///
    /// # Errors
    /// A database error.
    pub async fn has_row_security(&self) -> Result<bool> {
        server::has_row_security(self.pool()).await
    }

    /// The namespaces that the handle is restricted to; none: all.
    pub fn namespaces(&self) -> Option<&[String]> {
        self.wall()?.namespaces.as_deref()
    }

    /// The robot that the handle is restricted to; none: any.
    pub fn bound_robot(&self) -> Option<&str> {
        self.wall()?.robot.as_deref()
    }

    /// Refuses to act as another robot than the one that the handle is restricted to.
    pub(crate) fn admit_robot(&self, robot: &str) -> Result<()> {
        match self.bound_robot() {
            Some(own) if own != robot => Err(Error::new(
                codes::ROBOT_FORBIDDEN,
                format!("this handle acts as robot `{own}`, not as `{robot}`"),
            )
            .with_value("robot", own)
            .with_value("named", robot)),
            _ => Ok(()),
        }
    }

    /// Refuses to act as no robot in particular on a handle that is restricted to one.
    pub(crate) fn admit_any_robot(&self) -> Result<()> {
        match self.bound_robot() {
            Some(own) => {
                let message = format!("this handle acts as robot `{own}` only");
                Err(Error::new(codes::ROBOT_FORBIDDEN, message).with_value("robot", own))
            }
            None => Ok(()),
        }
    }

    /// Refuses a caller that is another robot than the one that the handle is restricted to.
    pub(crate) fn admit_caller(&self, caller: &Caller) -> Result<()> {
        match caller {
            Caller::AnyRobot => self.admit_any_robot(),
            _ => {
                self.settings().validate()?;
                self.admit_robot(caller.robot(self.settings()))
            }
        }
    }

    /// The namespace, if it is valid and the handle sees it.
    pub(crate) fn admit<'a>(&self, namespace: &'a str) -> Result<&'a str> {
        validate_namespace(namespace)?;
        match self.namespaces() {
            Some(seen) if !is_within(namespace, seen) => Err(self.forbidden(namespace)),
            _ => Ok(namespace),
        }
    }

    /// The given namespace, or the handle's own.
    pub(crate) fn namespace_or_own<'a>(&'a self, namespace: Option<&'a str>) -> Result<&'a str> {
        namespace.map_or(Ok(&self.settings().namespace), |namespace| self.admit(namespace))
    }

    /// As [`namespace_or_own`](Self::namespace_or_own), for a call that writes: a pattern is none.
    pub(crate) fn written_or_own<'a>(&'a self, namespace: Option<&'a str>) -> Result<&'a str> {
        let namespace = self.namespace_or_own(namespace)?;
        validate_written_namespace(namespace).map(|()| namespace)
    }

    /// The given namespaces, each once, or the handle's own.
    pub(crate) fn namespaces_or_own<'a>(&'a self, namespaces: &'a [String]) -> Result<Vec<&'a str>> {
        let mut named: Vec<&str> = Vec::new();
        let mut seen = HashSet::new();
        for namespace in namespaces {
            if seen.insert(namespace.as_str()) {
                named.push(self.admit(namespace)?);
            }
        }
        Ok(if named.is_empty() { vec![&self.settings().namespace] } else { named })
    }

    /// Refuses calls about all namespaces on a restricted handle.
    pub(crate) fn admit_all(&self) -> Result<()> {
        let Some(seen) = self.namespaces() else { return Ok(()) };
        let message =
            format!("this is about all namespaces, and the handle sees only these: {}", seen.join(", "));
        Err(Error::new(codes::NAMESPACE_FORBIDDEN, message))
    }

    /// Fails alike if the handle does not see a node's namespace and if there is no such node: callers must not tell
    /// the two apart. Forgotten nodes count too. Runs a statement only on a restricted handle.
    pub(crate) async fn admit_nodes(&self, nodes: &[NodeId]) -> Result<()> {
        self.admit_places(nodes, false).await
    }

    /// As [`admit_nodes`](Self::admit_nodes), for nodes that were read before: some may have been purged meanwhile.
    pub(crate) async fn admit_read_nodes(&self, nodes: &[NodeId]) -> Result<()> {
        self.admit_places(nodes, true).await
    }

    async fn admit_places(&self, nodes: &[NodeId], admits_missing: bool) -> Result<()> {
        let Some(seen) = self.namespaces() else { return Ok(()) };
        let found = namespaces_of(self.shared_pool(), nodes).await?;
        let is_admitted =
            |node: &NodeId| found.get(node).map_or(admits_missing, |namespace| is_within(namespace, seen));
        match nodes.iter().find(|node| !is_admitted(node)) {
            Some(node) => Err(not_found(*node)),
            None => Ok(()),
        }
    }

    fn forbidden(&self, namespace: &str) -> Error {
        let seen = self.namespaces().unwrap_or_default().join(", ");
        let message = format!("namespace `{namespace}` is not one of those that may be used here: {seen}");
        Error::new(codes::NAMESPACE_FORBIDDEN, message)
    }
}
