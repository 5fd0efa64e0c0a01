//! Export and import of an ontology.

use std::collections::BTreeSet;

use serde_json::json;

use super::Ontology;
use crate::model::error::Result;
use crate::model::ontology::ChangeKind;
use crate::model::ontology::exchange::{
    Descriptions, DocumentTag, Imported, OntologyDocument, check_new, lay,
};
use crate::model::ontology::names::{Draft, Names};
use crate::model::tags::TagPath;
use crate::store::ontology as store;

impl Ontology<'_> {
    /// All tags, used or not, as a document.
    ///
    /// # Errors
    /// A database error.
    pub async fn export(&self) -> Result<OntologyDocument> {
        OntologyDocument::of(&store::names_at_once(self.htm.pool(), self.namespace).await?)
    }

    /// Imports a document: adds missing tags and synonyms, all or none, and missing descriptions. Other tags stay. The
    /// log records `source`.
    ///
    /// A tag of the document that is a synonym here means the tag of that synonym. Nodes of a tag that the document has
    /// split are not tagged again.
    ///
    /// # Errors
    /// `ontology_version`, `tag_twice`, `tag_invalid`, `description_too_long`, `nul_byte`, `synonym_is_tag`,
    /// `tag_is_synonym` (another name that means another tag here, or two in the document), `tag_into_itself`,
    /// `tag_unmovable`, `tag_unknown` (a tag split into one that is nowhere), or a database error.
    pub async fn import(
        &self,
        kind: ChangeKind,
        source: &str,
        document: &OntologyDocument,
        descriptions: Descriptions,
    ) -> Result<Imported> {
        let rules = self.htm.tag_rules();
        self.import_checked(kind, Some(source), document, descriptions, |before| {
            check_new(before, rules, document)
        })
        .await
    }

    /// As [`import`](Self::import), and accepts names that the rules of this program would write in another way: they
    /// were tags in the database that the document is from. The parts of its split tags may be in a later document.
    /// Without a source it is not logged.
    pub(crate) async fn restore(
        &self,
        source: Option<&str>,
        document: &OntologyDocument,
    ) -> Result<Imported> {
        let mut whole = document.clone();
        let listed: BTreeSet<&TagPath> = document.tags.iter().map(|it| &it.tag).collect();
        let parts: BTreeSet<&TagPath> = document.tags.iter().flat_map(|it| &it.split_into).collect();
        whole.tags.extend(parts.difference(&listed).map(|part| DocumentTag::new((*part).clone(), None)));
        self.import_checked(ChangeKind::Import, source, &whole, Descriptions::Keep, |_| Ok(())).await
    }

    async fn import_checked(
        &self,
        kind: ChangeKind,
        source: Option<&str>,
        document: &OntologyDocument,
        descriptions: Descriptions,
        check: impl Fn(&Names) -> Result<()>,
    ) -> Result<Imported> {
        document.check()?;
        let plan = |draft: &mut Draft| {
            check(&draft.before)?;
            lay(draft, self.htm.tag_rules(), self.namespace, document, descriptions)
        };
        let (open, laid) = self.open(plan).await?;
        let changed = match source {
            Some(source) => {
                let planned = self.describe(kind, &open.draft, &open.draft.changes());
                let synonyms = planned.synonyms.iter().map(|it| &it.tag);
                let tags: BTreeSet<&String> = planned
                    .added
                    .iter()
                    .chain(&planned.described)
                    .chain(&planned.removed)
                    .chain(synonyms)
                    .collect();
                let details = json!({ "source": source, "tags": tags.len() });
                self.finish(open, kind, details, &[]).await?
            }
            None => self.lay_unlogged(open, kind).await?,
        };
        Ok(Imported { changed, descriptions_kept: laid.kept, called: laid.called })
    }
}
