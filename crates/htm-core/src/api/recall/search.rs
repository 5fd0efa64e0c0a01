//! A search from its words to its hits: what is read of the database, in which order, and what is made of it.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use crate::model::error::Result;
use crate::model::id::NodeId;
use crate::model::jobs::Stage;
use crate::model::rank::{self, Asked, Lexeme, Member, Parts, Ranked, Ranking, Sought};
use crate::model::recall::{
    Correction, Explanation, Hit, Leg, MatchedBy, RecallQuery, RecallSettings, Scores, Snippet, Strategy,
    VectorSearch,
};
use crate::model::relevance::{RelevanceWeights, Signals};
use crate::model::spelling;
use crate::model::timeframe::{NamedMonth, Timeframe, named_months};
use crate::model::words::{Sign, SignKind, Words};
use crate::store::embeddings::RegisteredModel;
use crate::store::filter::{self, Filter, Required};
use crate::store::recall::{Asking, Choosing, Features, HitRow, Lexed, Reader, Size, TextSearch, Vectors};

/// What is searched for, and where.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    /// Each once.
    pub(crate) namespaces: &'a [&'a str],
    pub(crate) query: &'a RecallQuery,
    /// What the query's filter means.
    pub(crate) timeframe: &'a Timeframe,
    /// The query's, or the one that was chosen for it.
    pub(crate) strategy: Strategy,
    /// What the query's text asks for.
    pub(crate) words: &'a Words,
    /// Whether full text runs.
    pub(crate) by_text: bool,
    /// None: no vectors.
    pub(crate) embedding: Option<(&'a RegisteredModel, &'a [f32])>,
    pub(crate) settings: &'a RecallSettings,
    /// What candidates are ordered anew by.
    pub(crate) relevance: Option<&'a RelevanceWeights>,
    pub(crate) language: &'a str,
}

/// Hits, and what is to be said of them.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) hits: Vec<Hit>,
    pub(crate) corrected: Vec<Correction>,
    pub(crate) legs: Vec<Leg>,
    /// Nodes in scope that the vectors cannot see yet.
    pub(crate) unembedded: i64,
    pub(crate) vector_search: Option<VectorSearch>,
}

impl Search<'_> {
    /// Searches in one snapshot.
    ///
    /// # Errors
    /// A database error.
    pub(crate) async fn run(&self, mut reader: Reader) -> Result<Found> {
        let size = reader.size(self.namespaces, self.language).await?;
        let mut found = Found::default();
        let text = self.text(&mut reader, &size, &mut found).await?;
        let vectors = self.embedding.as_ref().map(|(model, vector)| Vectors::new(model, vector));
        let filter = Filter::of(
            reader.connection(),
            self.query,
            self.namespaces,
            self.timeframe,
            text.required.clone(),
        )
        .await?;
        let boosts = filter::tags(reader.connection(), self.namespaces, &self.query.boost_tags).await?;
        let pool = self.settings.pool.max(self.query.limit);

        let mut candidates = Candidates::default();
        if let Some(vectors) = &vectors {
            let (search, leg) = self.vector_leg(&mut reader, vectors, &filter, &size, pool).await?;
            found.vector_search = (!leg.is_empty()).then_some(search);
            found.legs.push(match (search, filter.is_narrow()) {
                (VectorSearch::Approximate, _) => Leg::Hnsw,
                (VectorSearch::Exact, true) => Leg::Narrow,
                (VectorSearch::Exact, false) => Leg::Exact,
            });
            candidates.by_vector(leg, self.query.min_similarity.or(self.settings.min_similarity));
        }
        if self.by_text && (!text.choosing.is_empty() || text.required.has_phrase()) {
            let search = text.search(&size, &filter);
            candidates.by_text(reader.text_leg(&filter, &text.choosing, search, pool).await?);
            found.legs.push(Leg::Text);
        }
        let boosted = boosts.concat();
        if !boosted.is_empty() {
            candidates.by_tag(reader.tagged(vectors.as_ref(), &filter, &boosted, pool).await?);
        }

        let ranking = Ranking::new(self.settings, self.by_text, vectors.is_some(), self.has_neighbours());
        let links = match self.has_neighbours() && ranking.weight_neighbours > 0.0 {
            true => {
                let is_filtered = filter.is_narrow() || filter.is_of_a_time() || text.words.filters();
                reader.links(&filter, &candidates.of_a_leg(), is_filtered).await?
            }
            false => Vec::new(),
        };
        let nodes = candidates.with(links.iter().map(|link| link.other));
        // Vectors alone have told all that there is to know.
        let members = match self.by_text || !boosted.is_empty() {
            false => candidates.into_members(),
            true => {
                let asking = self.by_text.then(|| text.asking());
                let features = reader.features(&nodes, vectors.as_ref(), asking.as_ref()).await?;
                let sought = text.sought(&mut reader, &nodes).await?;
                candidates.members(features, sought, &text.named)
            }
        };
        let mut ranked = rank::rank(&text.asked, &ranking, members, &links);
        // What is ordered anew is chosen from the candidates of all legs.
        ranked.truncate(if self.relevance.is_some() { 3 * pool } else { self.query.limit });

        let shown = self.query.snippets.then(|| text.shown());
        let order: Vec<NodeId> = ranked.iter().map(|ranked| ranked.id).collect();
        let rows = reader.hits(&order, vectors.as_ref(), shown.as_deref(), &boosts).await?;
        found.unembedded = self.unembedded(&mut reader, &filter).await?;
        reader.close().await?;
        found.hits = self.hits(ranked, rows)?;
        Ok(found)
    }

    /// Whether a node has to be looked at before it is known to be in scope.
    pub(crate) fn is_narrow(&self) -> bool {
        let RecallQuery { tags, robots, session, metadata, .. } = self.query;
        !tags.is_empty()
            || !robots.is_empty()
            || session.is_some()
            || !metadata.is_empty()
            || self.words.has(SignKind::Phrase)
    }

    fn has_neighbours(&self) -> bool {
        // Also when the vectors of a hybrid query are missing.
        matches!(self.strategy, Strategy::Hybrid | Strategy::Auto)
    }

    /// What the query's text asks for, weighed by what these namespaces have.
    async fn text<'a>(&'a self, reader: &mut Reader, size: &Size, found: &mut Found) -> Result<Text<'a>> {
        let (namespaces, languages) = (self.namespaces, &size.languages[..]);
        let signs = &self.words.signs[..];
        let lexed = match signs.is_empty() {
            true => Vec::new(),
            false => reader.signs(namespaces, languages, signs).await?,
        };
        let mut text = Text::new(self.words, lexed);
        if !self.by_text {
            return Ok(text);
        }
        let searched = self.words.searched();
        let parts: Vec<&str> = signs.iter().filter_map(Sign::parts).collect();
        let mut lexemes = reader.lexemes(namespaces, languages, &searched, &parts).await?;
        let is_short = lexemes.len() <= MOST_CORRECTED;
        if is_short && lexemes.iter().any(|lexeme| lexeme.nodes == 0.0) {
            let compounds = spelling::compounds(&searched).into_iter();
            let unknown =
                compounds.filter(|(name, _)| is_unknown(&lexemes, name)).flat_map(|(_, parts)| parts);
            let parts: Vec<String> = unknown.collect();
            if !parts.is_empty() {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                lexemes.extend(reader.lexemes(namespaces, languages, "", &parts).await?);
            }
            if self.query.correct && self.settings.correct {
                found.corrected = self.correct(reader, size, &searched, &mut lexemes).await?;
            }
        }
        text.named = Named::of(&searched);
        text.weigh(Asked::new(size.corpus(), lexemes));
        Ok(text)
    }

    /// Words that no node has are taken for those that were meant.
    async fn correct(
        &self,
        reader: &mut Reader,
        size: &Size,
        searched: &str,
        lexemes: &mut Vec<Lexeme>,
    ) -> Result<Vec<Correction>> {
        let words = spelling::words(searched).into_iter().map(|word| {
            let swaps = spelling::swaps(&word);
            (word, swaps)
        });
        let mut typed = reader.typed(&size.languages, words.collect()).await?;
        // Unknown in one language, a word may be one of another's.
        let has = |stem: &String| lexemes.iter().any(|lexeme| lexeme.lexeme == *stem && lexeme.nodes > 0.0);
        typed.retain(|typed| !typed.stems.iter().any(has));
        typed.truncate(MOST_UNKNOWN);
        if typed.is_empty() {
            return Ok(Vec::new());
        }
        let known = reader.vocabulary(self.namespaces, &typed).await?;
        let mut corrected = Vec::new();
        for typed in &typed {
            if let Some(meant) = spelling::meant(typed, &known, size.nodes) {
                let (lexeme, nodes) = (meant.known.lexeme.clone(), meant.known.nodes);
                lexemes.push(Lexeme { lexeme, nodes, ..Lexeme::default() });
                corrected.push(Correction { asked: typed.word.clone(), used: meant.used });
            }
        }
        corrected.sort_by(|a, b| (&a.asked, &a.used).cmp(&(&b.asked, &b.used)));
        Ok(corrected)
    }

    /// The nearest nodes, by comparing all that are in scope where those are few enough, else by the index.
    async fn vector_leg(
        &self,
        reader: &mut Reader,
        vectors: &Vectors,
        filter: &Filter,
        size: &Size,
        pool: usize,
    ) -> Result<(VectorSearch, Vec<(NodeId, f64)>)> {
        let few = self.settings.exact_scope;
        if filter.is_narrow()
            && let Some(leg) = reader.vectors_of_few(vectors, filter, few, pool).await?
        {
            return Ok((VectorSearch::Exact, leg));
        }
        // What was counted lately is about what is there.
        let of_few = size.nodes / few.max(1) as f64;
        let is_exact = match size.is_counted && !filter.is_of_a_time() {
            true if of_few > CERTAIN => false,
            true if of_few < 1.0 / CERTAIN => true,
            _ => reader.scope_size(vectors, filter, few).await? <= few,
        };
        let search = if is_exact { VectorSearch::Exact } else { VectorSearch::Approximate };
        Ok((search, reader.vector_leg(vectors, filter, is_exact, pool).await?))
    }

    async fn unembedded(&self, reader: &mut Reader, filter: &Filter) -> Result<i64> {
        if !self.strategy.wants_vectors() {
            return Ok(0);
        }
        let model = self.embedding.as_ref().map(|(model, _)| *model);
        let queue = model.map_or(Stage::Embed.queue(), |model| &model.queue);
        reader.unembedded(filter, queue, model.map(|model| model.label.as_str())).await
    }

    fn hits(&self, ranked: Vec<Ranked>, rows: Vec<HitRow>) -> Result<Vec<Hit>> {
        let best_text = ranked.iter().filter_map(|ranked| ranked.text).fold(0.0, f64::max);
        let mut by_id: HashMap<NodeId, Ranked> =
            ranked.into_iter().map(|ranked| (ranked.id, ranked)).collect();
        let mut hits = Vec::with_capacity(rows.len());
        for row in rows {
            if let Some(ranked) = by_id.remove(&row.node.id) {
                hits.push(self.hit(ranked, row, best_text)?);
            }
        }
        if self.relevance.is_some() {
            // Stable: of equal relevance, the better score comes first.
            hits.sort_by(|a, b| {
                b.scores.relevance.partial_cmp(&a.scores.relevance).unwrap_or(Ordering::Equal)
            });
            hits.truncate(self.query.limit);
        }
        Ok(hits)
    }

    fn hit(&self, ranked: Ranked, row: HitRow, best_text: f64) -> Result<Hit> {
        let access_count = row.access_count.unwrap_or(0).max(0) as u64;
        let signals = Signals {
            similarity: ranked.similarity,
            tags: row.tag_share,
            hours: Some(row.hours),
            accesses: Some(access_count),
            importance: Some(row.node.importance.into()),
            text: ranked.text.map(|text| if best_text > 0.0 { text / best_text } else { 0.0 }),
        };
        let matched_by = match (ranked.vector_rank, ranked.text_rank) {
            (Some(_), Some(_)) => MatchedBy::Both,
            (None, Some(_)) => MatchedBy::Text,
            (Some(_), None) => MatchedBy::Vector,
            (None, None) if ranked.by_tag => MatchedBy::Tag,
            (None, None) => MatchedBy::Neighbour,
        };
        let node = row.node.into_node()?;
        Ok(Hit {
            snippet: row.snippet.as_deref().map(|marked| Snippet::read(marked, &node.content)),
            node,
            scores: Scores {
                score: ranked.score.unwrap_or(0.0),
                similarity: ranked.similarity,
                stale: row.stale,
                text: ranked.text,
                text_share: ranked.text_share,
                vector_rank: ranked.vector_rank,
                text_rank: ranked.text_rank,
                tags: row.tag_share,
                relevance: self.relevance.map(|weights| weights.relevance(&signals)),
                reranked: None,
            },
            access_count,
            last_accessed: row.last_accessed,
            matched_by,
            explanation: self.query.explain.then(|| explained(&ranked.parts)),
            folded: Vec::new(),
        })
    }
}

/// A query of more lexemes is a long text, which has words enough.
const MOST_CORRECTED: usize = 64;

/// So many unknown words are corrected.
const MOST_UNKNOWN: usize = 8;

/// How far the statistics may be from what there is: so many times.
const CERTAIN: f64 = 1.1;

fn is_unknown(lexemes: &[Lexeme], word: &str) -> bool {
    lexemes.iter().any(|lexeme| lexeme.lexeme == word && lexeme.nodes == 0.0)
}

fn explained(parts: &Parts) -> Explanation {
    Explanation::of(&[
        ("vector", parts.vector),
        ("words", parts.words),
        ("together", parts.together),
        ("exact", parts.exact),
        ("neighbours", parts.neighbours),
        ("speaker", parts.speaker),
        ("time", parts.time),
    ])
}

/// What a query's text asks for.
struct Text<'a> {
    words: &'a Words,
    /// Each sign as full text takes it.
    lexed: Vec<Lexed>,
    asked: Asked,
    /// The signs that rank: terms, quotations, beginnings of words.
    ranking: Vec<usize>,
    required: Required,
    choosing: Vec<Choosing>,
    named: Named,
}

impl<'a> Text<'a> {
    fn new(words: &'a Words, lexed: Vec<Lexed>) -> Self {
        let mut required = Required::default();
        let mut phrases = Vec::new();
        for (sign, lexed) in words.signs.iter().zip(&lexed) {
            let is_as_written = sign.is_as_written(lexed.query.is_none() || lexed.is_short);
            match sign.kind {
                SignKind::Phrase => {
                    phrases.extend(lexed.query.as_ref().map(|query| format!("({query})")));
                    required.patterns.extend(is_as_written.then(|| sign.pattern().to_owned()));
                }
                SignKind::Without if is_as_written => {
                    required.barred_patterns.push(sign.pattern().to_owned());
                }
                SignKind::Without => required.barred.extend(lexed.query.clone()),
                SignKind::Prefix | SignKind::Term | SignKind::Quotation => {}
            }
        }
        required.phrases = (!phrases.is_empty()).then(|| phrases.join(" & "));
        let ranks = |at: &usize| {
            matches!(words.signs[*at].kind, SignKind::Prefix | SignKind::Term | SignKind::Quotation)
        };
        let ranking = (0..lexed.len()).filter(ranks).collect();
        Self {
            words,
            lexed,
            asked: Asked::default(),
            ranking,
            required,
            choosing: Vec::new(),
            named: Named::default(),
        }
    }

    fn weigh(&mut self, mut asked: Asked) {
        asked.has_phrase = self.required.has_phrase();
        let nodes = asked.corpus.nodes;
        asked.sought = self
            .ranking
            .iter()
            .map(|&at| match self.words.signs[at].kind {
                // A beginning of words weighs as a word in as many nodes as they are in together.
                SignKind::Prefix => Sought {
                    is_prefix: true,
                    idf: rank::idf(nodes, self.lexed[at].nodes.max(1.0).min(nodes)),
                },
                _ => Sought { is_prefix: false, idf: asked.weight_of(&self.lexed[at].lexemes) },
            })
            .collect();
        self.choosing = asked
            .choosing()
            .iter()
            .map(|word| Choosing { query: word.query(), weight: word.idf, is_exact: false })
            .collect();
        for (&at, sought) in self.ranking.iter().zip(&asked.sought) {
            if let Some(query) = &self.lexed[at].query {
                let (query, weight) = (query.clone(), sought.idf);
                self.choosing.push(Choosing { query, weight, is_exact: !sought.is_prefix });
            }
        }
        self.asked = asked;
    }

    /// By the index, which knows of no namespace and brings the nodes of all, or by reading each that is in scope when these
    /// are few beside. Words are taken to be as frequent elsewhere as they are here; what has one often has another, so that the
    /// sum is too much.
    fn search(&self, size: &Size, filter: &Filter) -> TextSearch {
        if filter.required().has_phrase() {
            return TextSearch::Scope;
        }
        let here: f64 = self.asked.choosing().iter().map(|word| word.nodes).sum();
        let indexed = size.nodes.max(size.all_nodes) * here / size.nodes.max(1.0);
        match !filter.is_of_a_time() && !filter.is_narrow() && size.nodes <= indexed / 3.0 {
            true => TextSearch::Scope,
            false => TextSearch::Index,
        }
    }

    fn asking(&self) -> Asking {
        Asking {
            words: self.asked.words.iter().map(rank::Word::query).collect(),
            openings: self.asked.words.iter().map(rank::Word::opening).collect(),
            pairs: self.asked.pairs.iter().map(|pair| pair.query.clone()).collect(),
        }
    }

    /// Which nodes have which of the signs that rank, and how often.
    async fn sought(&self, reader: &mut Reader, nodes: &[NodeId]) -> Result<Vec<(NodeId, usize, f64)>> {
        if self.asked.sought.is_empty() {
            return Ok(Vec::new());
        }
        let queries: Vec<Option<String>> =
            self.ranking.iter().map(|&at| self.lexed[at].query.clone()).collect();
        let patterns: Vec<&str> = self.ranking.iter().map(|&at| self.words.signs[at].pattern()).collect();
        let prefixes: Vec<bool> = self.asked.sought.iter().map(|sought| sought.is_prefix).collect();
        reader.sought(nodes, &queries, &patterns, &prefixes).await
    }

    /// What a snippet marks, as a `tsquery`.
    fn shown(&self) -> String {
        let signs = self.words.signs.iter().zip(&self.lexed);
        let signs = signs
            .filter(|(sign, _)| sign.kind != SignKind::Without)
            .filter_map(|(_, lexed)| Some(format!("({})", lexed.query.as_ref()?)));
        self.asked.words.iter().map(rank::Word::query).chain(signs).collect::<Vec<_>>().join(" | ")
    }
}

/// Speakers and months that a query names.
#[derive(Clone, Debug, Default)]
struct Named {
    /// In small letters: each of its words may be a name.
    names: HashSet<String>,
    months: Vec<NamedMonth>,
}

impl Named {
    fn of(text: &str) -> Self {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().nth(1).is_some());
        Self { names: words.map(str::to_lowercase).collect(), months: named_months(text) }
    }

    fn has_speaker(&self, speaker: &str) -> bool {
        self.names.contains(speaker)
            || speaker.split(' ').next().is_some_and(|first| self.names.contains(first))
    }
}

/// What the legs brought.
#[derive(Default)]
struct Candidates {
    order: Vec<NodeId>,
    members: HashMap<NodeId, Member>,
}

impl Candidates {
    fn member(&mut self, node: NodeId) -> &mut Member {
        self.members.entry(node).or_insert_with(|| {
            self.order.push(node);
            Member::new(node)
        })
    }

    fn by_vector(&mut self, mut leg: Vec<(NodeId, f64)>, least: Option<f64>) {
        leg.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        let near = leg.into_iter().filter(|(_, similarity)| least.is_none_or(|least| *similarity >= least));
        for (rank, (node, similarity)) in (1..).zip(near) {
            let member = self.member(node);
            member.vector_rank = Some(rank);
            member.similarity = Some(similarity);
        }
    }

    fn by_text(&mut self, leg: Vec<NodeId>) {
        for (rank, node) in (1..).zip(leg) {
            self.member(node).text_rank = Some(rank);
        }
    }

    fn by_tag(&mut self, leg: Vec<NodeId>) {
        for node in leg {
            self.member(node).by_tag = true;
        }
    }

    /// Those that vectors or words brought.
    fn of_a_leg(&self) -> Vec<NodeId> {
        let is_of_a_leg = |node: &&NodeId| {
            let member = &self.members[*node];
            member.vector_rank.is_some() || member.text_rank.is_some()
        };
        self.order.iter().filter(is_of_a_leg).copied().collect()
    }

    /// All, with these beside.
    fn with(&self, beside: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
        let mut seen: HashSet<NodeId> = self.order.iter().copied().collect();
        let beside = beside.filter(|node| seen.insert(*node));
        let beside: Vec<NodeId> = beside.collect();
        self.order.iter().copied().chain(beside).collect()
    }

    fn into_members(self) -> Vec<Member> {
        self.members.into_values().collect()
    }

    /// What the ranking has to know of each.
    fn members(
        mut self,
        features: Vec<Features>,
        sought: Vec<(NodeId, usize, f64)>,
        named: &Named,
    ) -> Vec<Member> {
        let mut sought_of: HashMap<NodeId, Vec<(usize, f64)>> = HashMap::new();
        for (node, place, count) in sought {
            sought_of.entry(node).or_default().push((place, count));
        }
        features
            .into_iter()
            .map(|Features { member, speaker, created_at }| {
                let known = self.members.remove(&member.id);
                let known = known.unwrap_or_else(|| Member::new(member.id));
                Member {
                    vector_rank: known.vector_rank,
                    text_rank: known.text_rank,
                    by_tag: known.by_tag,
                    sought: sought_of.remove(&member.id).unwrap_or_default(),
                    is_of_speaker: speaker.is_some_and(|speaker| named.has_speaker(&speaker)),
                    is_of_month: named.months.iter().any(|month| month.is_spoken_of(created_at)),
                    ..member
                }
            })
            .collect()
    }
}
