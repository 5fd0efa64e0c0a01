// The bodies of requests and answers. Made by `clients/generate`; do not edit.

/** The model to activate. */
export interface Activate {
  /** Whether memories that vectors find now may be lost to them. */
  force?: boolean;
  /** Its label. */
  label: string;
}

/** The version to use. */
export interface ActivateBody {
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The version; 0 is the default ranking. */
  version: number;
}

/** The result of an activation. */
export interface Activation {
  /** The label of the model that recall uses now. */
  active: string;
  /**
   * The number of jobs enqueued for nodes that the new model lacks. Unless forced, the old one
   * lacked them as well.
   */
  enqueued: number;
  /** The number of nodes that vectors found before and do not find now; 0 unless forced. */
  lost: number;
  /**
   * The label of the formerly active model, which is on standby now; none if there was no other.
   */
  standby?: string | null;
}

/** Memories to add to a working memory. */
export interface AddNodes {
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The ids of the memories. Of equally important ones, the last is evicted last. */
  nodes: NodeId[];
}

/** A synonym of a tag. */
export interface AddSynonym extends Change {
  /** The other name. */
  name: string;
  /** The tag. */
  tag: string;
}

/** Tags to add or to describe. */
export interface AddTags extends Change {
  /** The tags. */
  tags: TermBody[];
}

/** Memories to add to a group's working memory. */
export interface AddToGroup {
  /** The membership. */
  membership: MembershipId;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The ids of the memories. Of equally important ones, the last is evicted last. */
  nodes: NodeId[];
}

/** Live nodes by age; each is counted once. */
export interface Ages {
  /** Within the last 24 hours, or in the future. */
  day: number;
  /** Within the last 30 days, otherwise. */
  month: number;
  /** Older. */
  older: number;
  /** Within the last 7 days, otherwise. */
  week: number;
}

/** The hits, and what they did to the working memory of the robot that asked. */
export interface Answer extends Recalled {
  /** The names in the filter, and among preferred tags, that nothing has. */
  unknown_names: UnknownName[];
  /** The changes of the working memory. Null if no robot asked. */
  working_memory?: Intake | null;
}

/** A key, without its secret part. */
export interface ApiKey {
  /** When it was created. */
  created_at: string;
  /** When it expires. Null: never. */
  expires_at?: string | null;
  /** Its visible part, and its name in lists and logs. */
  id: string;
  /** When it was used last, to the minute. Null: never. */
  last_used_at?: string | null;
  /** A name for people. */
  name?: string | null;
  /** Its namespaces; `tenant-7/*` stands for every namespace below `tenant-7`. Null: all. */
  namespaces?: string[] | null;
  /** The most requests a minute, over all servers. Null: no limit. */
  requests_per_minute?: number | null;
  /** When it was revoked. Null: it was not. */
  revoked_at?: string | null;
  /** The robot of its requests. Null: each request names its own. */
  robot?: string | null;
  /** The role of its holder. */
  role: Role;
}

/** The time as of which an answer is, and what it lacks. */
export interface AsOf {
  /** The time. */
  at: string;
  /**
   * The number of memories in namespace and timeframe that had another text then. Their former
   * texts are found by words alone: vectors are of current texts.
   */
  former_texts: number;
  /** A warning about the limits of the answer, for people. */
  warning: string;
}

/** The result of an audit. */
export interface Audit {
  /**
   * Running jobs of workers that have not been seen for their lease; any worker takes them back.
   */
  awaiting_rescue: number;
  /** Dead letters. A dead letter says why a node lacks its result, so the node is not stranded. */
  dead_letters: number;
  /** Whether the jobs table refuses jobs in an impossible state. */
  states_guarded: boolean;
  /**
   * Nodes that lack a result and have no job for it. If there are any, the pipeline has lost
   * something.
   */
  stranded: Stranded[];
  /**
   * Running jobs that are assigned to a live worker which does not hold them; the worker gives them
   * back. There are none, except for a moment after a database error.
   */
  unheld: number;
}

/** An entry of the audit log. */
export interface AuditEntry {
  /** The action, such as `key.revoke`, `quota.set`, `purge`, `tags.rename`. */
  action: string;
  /** The actor: a key of the API, or the robot of a program. */
  actor: string;
  /** The time of the action. */
  at: string;
  /** Numbers and names. No text of a memory. */
  details: Record<string, unknown>;
  /** The namespace. Null: all. */
  namespace?: string | null;
  /** The subject of the action, such as a key's id. */
  subject?: string | null;
}

/** The audit log. */
export interface AuditLog {
  /** The newest first. */
  entries: AuditEntry[];
  /** The cursor of the next page; null: this is the last. */
  next?: string | null;
}

/** The states of the backfill jobs of a run's queue (and namespace). */
export interface BackfillProgress {
  /** Dead letters. */
  dead: number;
  /** Open jobs. */
  open: number;
  /** Parked jobs: they wait for a budget or an operator. */
  parked: number;
}

/** A run of a backfill. */
export interface BackfillRun {
  /** Whether it was cancelled, or its model retired. */
  cancelled: boolean;
  /** Jobs enqueued so far. */
  enqueued: number;
  /** The last examined node. */
  examined: NodeId;
  /** When all of its jobs were enqueued, or it was cancelled. */
  finished_at?: string | null;
  /** Also nodes whose stage is done. */
  forced: boolean;
  /** Its number. */
  id: number;
  /** The last node to examine. */
  last: NodeId;
  /**
   * The most backfill jobs that wait in the queue; none: a program goes on with the run, and no
   * server.
   */
  max_queued?: number | null;
  /** The model of its jobs. */
  model: string;
  /** Only this namespace; none: all. */
  namespace?: string | null;
  /** Only nodes that another version of the prompt or the rules, or another model, has tagged. */
  prompt_version?: string | null;
  /** Their queue. */
  queue: string;
  /** Only nodes since this time. */
  since?: string | null;
  /** The stage of its jobs. */
  stage: Stage;
  /** When it was started. */
  started_at: string;
}

/** Runs of backfills. */
export interface Backfills {
  /** The newest first. */
  backfills: BackfillRun[];
  /** The cursor of the next page; null: this is the last. */
  next?: number | null;
}

/** The state of a provider's circuit breaker. */
export type BreakerState = "closed" | "open" | "half_open";

/** The vector of a memory's text. */
export interface BroughtVector {
  /** Whether a memory of any robot may be changed. */
  any_robot?: boolean;
  /** The label of the model, such as `caller/mine`. */
  model: string;
  /** The namespace of the robot that brings it. Default: the server's. */
  namespace?: string | null;
  /** The revision of the text that it was made of. */
  revision: number;
  /** The robot that brings it: it may change what it remembered. Default: the server's. */
  robot?: string | null;
  /** Its numbers, as many as the model has dimensions. */
  vector: number[];
}

/** The daily token budget of a namespace, and its use. */
export interface Budget {
  /** The namespace. */
  namespace: string;
  /** Jobs that wait for tomorrow's budget. */
  parked: number;
  /** Tokens a day (UTC), at all providers together. */
  tokens_per_day: number;
  /** Tokens spent today. */
  tokens_used: number;
}

/** A model whose vectors callers bring. */
export interface CallersModel {
  /** The length of its vectors, 1 to 4,000. */
  dimensions: number;
  /** Its name. The label is `caller/` and the name. */
  name: string;
}

/** The namespace and the author of a change, and whether it is a dry run. */
export interface Change {
  /** The author in the log. Default: the server's robot. */
  by?: string | null;
  /** Answers with the plan, and changes nothing. */
  dry_run?: boolean;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
}

/** The kind of a change. */
export type ChangeKind =
  | "add"
  | "import"
  | "template"
  | "remove"
  | "rename"
  | "merge"
  | "split"
  | "add_synonym"
  | "remove_synonym"
  | "mark_distinct"
  | "unmark_distinct"
  | "revert";

/** The receipt of a change, or of its dry run. */
export interface Changed {
  /** New tags. */
  added: string[];
  /** Its number in the log; none for a dry run or if nothing changed. */
  change?: number | null;
  /** Tags with a new description, split or distinction. */
  described: string[];
  /** Whether it was a dry run. */
  dry_run: boolean;
  /** Removed synonyms. */
  freed: string[];
  /** Jobs that will tag nodes again. */
  jobs: number;
  /** Tags of the reverted change that stay because they are in use. */
  kept: string[];
  /** Its kind. */
  kind: ChangeKind;
  /** Renamed or merged tags. */
  moved: Moved[];
  /** The namespace. */
  namespace: string;
  /** Nodes with changed or renamed tags, including forgotten ones. */
  nodes: number;
  /** Removed tags. */
  removed: string[];
  /** New synonyms. */
  synonyms: Synonym[];
}

/** The number of changed jobs. */
export interface ChangedJobs {
  jobs: number;
}

/** A page of changes. */
export interface Changes {
  changes: LoggedChange[];
  /** The cursor of the next page; null: this is the last. */
  next?: number | null;
}

/** A strategy that was chosen by the query. */
export interface Chosen {
  /** The reason. */
  reason: ChosenFor;
  /** The strategy. */
  strategy: Strategy;
}

/** The reason for a chosen strategy: the form of the query. */
export type ChosenFor = "phrase" | "question" | "prefix" | "exact_terms" | "words";

/** Two tags with common nodes. */
export interface CoOccurrence {
  /** The share of common nodes, 0 to 1. */
  jaccard: number;
  /** Live nodes with both. */
  nodes: number;
  /** The other. */
  other: string;
  /** Live nodes with the other. */
  other_nodes: number;
  /** One tag. */
  tag: string;
  /** Live nodes with the one. */
  tag_nodes: number;
}

/** A text for a prompt, its nodes, and the omitted ones. */
export interface Context {
  /** The nodes in it, in their order. */
  included: NodeId[];
  /** The omitted nodes, in the order of the context; last those that do not pass the filter. */
  left_out: LeftOut[];
  /** The budget. */
  max_tokens: number;
  /** The order of the nodes. */
  order: ContextOrder;
  /** The nodes of the text that other memories supersede. */
  superseded?: Superseded[];
  /** The text. */
  text: string;
  /** The tokens of the whole text, never more than the budget. */
  tokens: number;
}

/** The context, and the query's hits. */
export interface ContextAnswer extends RobotContext {
  /** Memories that no longer fit, because the token budget is smaller than it was. */
  left_behind: NodeId[];
  /** The hits of the query. Null without a query. */
  recalled?: Recalled | null;
  /** The names in the filter that nothing has. */
  unknown_names: UnknownName[];
  /** The use of the working memory. */
  working_memory: WorkingMemoryStats;
}

/** The text for a prompt. */
export interface ContextBody {
  /** Whether unknown words of the query are spell-corrected. Default: true. */
  correct?: boolean | null;
  /** The memories of the context, and of the query. */
  filter?: FilterBody;
  /** Whether each memory has a line with its age, its source, and the memory that supersedes it. */
  header?: boolean;
  /** The most hits of the query. Default: 20. */
  limit?: number | null;
  /** The most tokens of the text, 1 to 1,000,000. Default: 4,000. */
  max_tokens?: number | null;
  /**
   * The order of the memories after the hits: recent, important, frequent, balanced. Default:
   * balanced.
   */
  order?: string | null;
  /**
   * Recalls this first: the hits enter the working memory, and come first in the text, the best one
   * first. Needs a writer's key.
   */
  query?: string | null;
  /** The robot whose working memory it is. A query registers a new one. */
  robot: string;
  /** The separator between two memories, up to 1,024 characters. Default: an empty line. */
  separator?: string | null;
  /** How the query is searched. Default: hybrid. */
  strategy?: Strategy | null;
}

/** The order of nodes. Ties: the most recently accessed first, then the larger id. */
export type ContextOrder = "recent" | "important" | "frequent" | "balanced";

/** A conversation: messages in their order. */
export interface Conversation {
  /** When the memories expire. Default: never. */
  expires_at?: string | null;
  /**
   * The position of the first message. Default: the one after the conversation's last message, or
   * 0.
   */
  first_seq?: number | null;
  /** The messages, at most 1,000. */
  messages: Message[];
  /** Metadata of every message: at most 1 MiB for all messages together. */
  metadata?: Record<string, unknown>;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The robot that remembers. Default: the server's. */
  robot?: string | null;
  /** The conversation's name. Default: a new one. */
  session?: string | null;
  /** Its source: a file, a chat, a URL. */
  source?: string | null;
  /** Tags of every message. */
  tags?: string[];
  /** Instead of `expires_at`: the seconds from now to their expiry. */
  ttl_seconds?: number | null;
}

/** A remembered conversation. */
export interface ConversationWritten {
  /** A receipt for each message, in their order. */
  results: Written[];
  /** Its name: the given one, or a new one. */
  session: string;
}

/** A spell-corrected word. */
export interface Correction {
  /** The word of the query. */
  asked: string;
  /** The replacement: the word with one edit, or the most similar stem. */
  used: string;
}

/** The division of a count over time. */
export type CountBy = "time" | "robot" | "tag";

/** A list of groups of nodes. */
export interface Counts {
  /** The number of groups. */
  distinct: number;
  /** The groups with the most nodes. */
  top: GroupCount[];
}

/** The query of counts over time. */
export interface CountsBody {
  /** The division of each step. Default: none. */
  by?: CountBy;
  /** The counted memories. */
  filter?: FilterBody;
  /** The most counts, 1 to 10,000. Default: 1,000. */
  limit?: number | null;
  /** The step of time, in UTC. */
  step: TimeStep;
}

/** A new key. Its text cannot be read again. */
export interface CreatedApiKey extends ApiKey {
  /** The whole key, for the header `Authorization: Bearer …`. */
  secret: KeyText;
}

/** A step that did not run. */
export interface Degraded {
  /** The stable code of the reason. */
  code: string;
  /** The next step: the error's hint. Programs may name their own command instead. */
  hint: string;
  /** The reason, for people. */
  reason: string;
  /** The step. */
  step: Step;
}

/** The outcome for a memory. */
export type Deleted = Forgotten | Erasure;

/** Two tags declared distinct. */
export interface DistinctTags {
  /** The other one. */
  other: TagPath;
  /** One of them. */
  tag: TagPath;
}

/** The loaded document. */
export interface DocumentAnswer extends LoadedDocument {
  /** The date of the front matter, if it cannot be read. */
  date_left_out?: string | null;
  /** Why the front matter cannot be read, if it cannot. It is no part of the text then. */
  front_matter_left_out?: string | null;
  /** The pages of a PDF that cannot be read. */
  pages_left_out: number[];
  /** The tags of the front matter that are not valid. */
  tags_left_out: string[];
}

/** A document to load. */
export interface DocumentBody {
  /** Whether a document of any robot may be changed. */
  any_robot?: boolean;
  /** The bytes of the file in base64, such as those of a PDF. */
  bytes?: string | null;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /**
   * The characters that a passage repeats of the one before it, up to half of the size. Default:
   * 100.
   */
  overlap?: number | null;
  /** Its path, which identifies it in its namespace. Its extension tells the kind of the file. */
  path: string;
  /** The robot that loads: it may change the documents that it loaded. Default: the server's. */
  robot?: string | null;
  /** The most characters of a passage, 200 to 100,000. Default: 1,000. */
  size?: number | null;
  /** Tags of each passage, beside those of the front matter. */
  tags?: string[];
  /** The text of the file. Instead: `bytes`. */
  text?: string | null;
}

/** A loaded document. */
export interface DocumentInfo {
  /** The bytes of the file. */
  bytes: number;
  /** When it last changed. */
  changed_at: string;
  /** Its kind. */
  kind: DocumentKind;
  /** When it was first loaded. */
  loaded_at: string;
  /** Its namespace. */
  namespace: string;
  /** Its passages that are not forgotten. */
  passages: number;
  /** Its path. */
  path: string;
  /** The tags that its front matter and its loader gave its passages. */
  tags: TagPath[];
  /** Its title. */
  title?: string | null;
}

/** The kind of a file. */
export type DocumentKind = "markdown" | "text" | "html" | "pdf" | "code";

/** A page of documents, in the order of their paths. */
export interface DocumentPage {
  documents: DocumentInfo[];
  /** The cursor of the next page; null: this is the last. */
  next?: string | null;
}

/** A tag of a document. */
export interface DocumentTag {
  /** Its description. */
  description?: string | null;
  /** Tags declared distinct from it, sorted. A pair is on one of its tags. */
  distinct_from?: TagPath[];
  /** The tag of a text that fits none of them. */
  leftover?: Leftover;
  /** The tags that replace it after a split. */
  split_into?: TagPath[];
  /** Its synonyms, sorted. */
  synonyms?: TagPath[];
  /** The tag. */
  tag: TagPath;
}

/** The receipt of an edit. */
export interface Edited {
  /**
   * The changed fields: `content`, `importance`, `key`, `source`, `type`, `metadata`, `expires`,
   * `tags`. Empty: nothing was written.
   */
  changed: string[];
  /** Jobs enqueued for the new text. */
  jobs: number;
  /** The node. */
  node: NodeId;
  /** Its revision now. */
  revision: number;
  /** Jobs of the old text that were ended. */
  superseded: number;
}

/** The answer to an edit. */
export interface EditedNow extends Edited {
  /** The state of its stages, if the request waited for them. */
  status?: NodeStatus | null;
}

/** The progress of a stage. */
export interface Enrichment {
  /** Dead letters. */
  dead: number;
  /** Nodes that are done, at their current revision. */
  done: number;
  /** The embedding model; none for tags. */
  model?: string | null;
  /** Parked jobs. */
  parked: number;
  /** Due and waiting jobs. */
  pending: number;
  /** Running jobs. */
  running: number;
  /** The stage. */
  stage: Stage;
}

/** A node in a working memory. */
export interface Entry {
  /** When it was last added or touched. */
  accessed_at: string;
  /** The number of times that it was touched or added again. */
  accesses: number;
  /** When it was added to this working memory. */
  added_at: string;
  /** Its text. */
  content: string;
  /** When it happened. */
  happened_at: string;
  /** The importance, 1 to 10. */
  importance: number;
  /** The node. */
  node: NodeId;
  /** The revision of the text, from 1. */
  revision: number;
  /** The source: a file, a chat, a URL. */
  source?: string | null;
  /** The number of tokens of the text, by the encoding of contexts. */
  tokens: number;
}

/** The memories to erase: by ids, by a text, or those of a robot. */
export interface EraseMemories {
  /** The act is refused without it. */
  confirm?: boolean;
  /** Answers with the plan, and erases nothing. */
  dry_run?: boolean;
  /** These memories. */
  ids?: NodeId[];
  /** The namespace of the text or the robot. Default: the server's. */
  namespace?: string | null;
  /**
   * The plan of a dry run, which a text needs. The act is refused if the memories have changed
   * since.
   */
  plan?: string | null;
  /** Those that this robot remembered. */
  robot?: string | null;
  /** Those whose text, or a former text, contains this. */
  text?: string | null;
}

/** The confirmation of an act on a namespace. */
export interface EraseNamespace {
  /** The act is refused without it. */
  confirm?: boolean;
  /** Answers with the plan, and erases nothing. */
  dry_run?: boolean;
}

/** The preview of an erasure. */
export interface ErasePlan {
  /** The first memories by id, `MAX_MATCHES` at most, with the beginning of each text. */
  matches: Match[];
  /** The number of memories. */
  memories: number;
  /**
   * A digest of the memories and their revisions. An erasure with this plan is refused if they have
   * changed.
   */
  plan: string;
  /** The number of rows by table, of tables with any. */
  removed: Record<string, number>;
}

/** The plan, or the receipt. */
export interface Erased {
  /** The receipt. Null for a dry run. */
  erasure?: Erasure | null;
  /** The plan of the removal. Null unless it is a dry run. */
  plan?: ErasePlan | null;
}

/**
 * The receipt of an erasure. It has no text of a memory, and no hash of one: whoever can read a
 * hash can test a guess.
 */
export interface Erasure {
  /** The eraser: a key of the API, or the robot of a program. */
  asked_by: string;
  /** When it began. */
  began_at: string;
  /** When the last row was removed. Null: it was interrupted, and can be resumed. */
  ended_at?: string | null;
  /** The number of those that are erased. */
  erased: number;
  /** Its number. */
  id: number;
  /** The subject. */
  kind: ErasureKind;
  /** The number of memories to erase. */
  memories: number;
  /** The namespaces of the memories. */
  namespaces: string[];
  /** The number of removed rows by table. */
  removed: Record<string, number>;
  /** The robot whose memories were erased. Null for another kind. */
  robot?: string | null;
  /** How the space of the removed rows was freed. Null: not yet. */
  vacuum?: Vacuumed | null;
  /** The end of the write-ahead log after that. */
  wal_position?: string | null;
}

/** The subject of an erasure. */
export type ErasureKind = "memories" | "matching" | "robot" | "namespace";

/** Receipts of erasures. */
export interface Erasures {
  /** The newest first. */
  erasures: Erasure[];
  /** The cursor of the next page; null: this is the last. */
  next?: number | null;
}

/** An event. Fields that do not concern its kind are left out of the JSON. */
export interface Event {
  /** The kind of change: `rename`, `merge` and so on. */
  action?: string | null;
  /** When it happened, or for a group when it was seen. */
  at: string;
  /** The number of the change in the log of the ontology. */
  change?: number | null;
  /** Why the job is not retried. */
  error?: string | null;
  /** The group. */
  group?: string | null;
  /** The job. */
  job?: string | null;
  /** Its kind. */
  kind: EventKind;
  /** The label of the embedding model. */
  model?: string | null;
  /** Where it happened. */
  namespace: string;
  /** The memory. */
  node?: NodeId | null;
  /** The queue of the job. */
  queue?: string | null;
  /** The kind of the relation. */
  relation?: RelationKind | null;
  /** The revision of its text. */
  revision?: number | null;
  /** The memory that `node` supersedes or contradicts. */
  to?: NodeId | null;
  /** The version of its working memory. */
  version?: number | null;
}

/** The kind of an event. */
export type EventKind =
  | "memory.embedded"
  | "memory.tagged"
  | "job.dead"
  | "ontology.changed"
  | "group.changed"
  | "relation.set";

/** The memories that left a working memory. */
export interface Evicted {
  /** Memories that no longer fit. */
  evicted: NodeId[];
}

/**
 * The parts of the value that orders a hit. `Scores::score` is in proportion to their sum, unless
 * relevance, the ranks in several lists or a re-ranker order the hits.
 */
export interface Explanation {
  /** The parts that are not 0. */
  parts: ScorePart[];
}

/** A tag of hits. */
export interface Facet {
  /** The number of hits with it. */
  hits: number;
  /** The tag. */
  tag: TagPath;
}

/** An author of feedback. */
export interface FeedbackAuthor {
  /** A key or a robot. */
  author: string;
  /** The recalls that it judged. */
  recalls: number;
  /** Memories that it used. */
  used: number;
  /** Memories that it found useless. */
  useless: number;
}

/** The memories of a recall that were used, and those that were useless. */
export interface FeedbackBody {
  /** The memories that were used. */
  used?: NodeId[];
  /** The memories that were useless. */
  useless?: NodeId[];
}

/** The receipt of a feedback. */
export interface FeedbackReceipt {
  /** Recalls with a used memory so far, of all namespaces that learn together. */
  judged: number;
  /** Whether this feedback has asked for a new ranking. */
  learns: boolean;
  /** Named memories that the recall did not consider. Nothing can be learnt of them. */
  not_considered: NodeId[];
  /** The recall. */
  recall: string;
  /** The memories that are recorded as used. */
  used: number;
  /** The memories that are recorded as useless. */
  useless: number;
}

/** A file to create. */
export interface FileCreation {
  /** `create`, or not given. */
  command?: string | null;
  /** Its text, at most 1 MiB. */
  file_text: string;
  /** Its path, below `/memories`. */
  path: string;
}

/** A file or a directory to delete. */
export interface FileDeletion {
  /** `delete`, or not given. */
  command?: string | null;
  /** Its path, below `/memories`. */
  path: string;
}

/** Lines to insert into a file. */
export interface FileInsertion {
  /** `insert`, or not given. */
  command?: string | null;
  /** The number of the line that they follow; 0 is the beginning. */
  insert_line: number;
  /** The lines. */
  insert_text: string;
  /** The path of the file. */
  path: string;
}

/** A file or a directory to rename. */
export interface FileRenaming {
  /** `rename`, or not given. */
  command?: string | null;
  /** Its new path, where nothing is. */
  new_path: string;
  /** Its path, below `/memories`. */
  old_path: string;
}

/** A text of a file to replace. */
export interface FileReplacement {
  /** `str_replace`, or not given. */
  command?: string | null;
  /** The text in its place. */
  new_str: string;
  /** The text to replace, which occurs exactly once. */
  old_str: string;
  /** The path of the file. */
  path: string;
}

/** The reply to a command on files. */
export interface FileReply {
  /** The text for the language model. */
  content: string;
  /** The memories of the files that were read or changed. Empty for a listing. */
  nodes: NodeId[];
  /**
   * The revision of the file's text. Null for a command on a directory, and for deletions and
   * renames.
   */
  revision?: number | null;
}

/** A file or a directory to read. */
export interface FileView {
  /** `view`, or not given. */
  command?: string | null;
  /** Its path, `/memories` or below. */
  path: string;
  /** The first and the last line of a file, from 1. -1 is the end of the file. */
  view_range?: number[] | null;
}

/** The conditions on the memories of a request. A memory passes if it meets every condition. */
export interface FilterBody {
  /** Whether any of the tags is enough. */
  any_tag?: boolean;
  /** Required tags, exactly these. */
  exact_tags?: string[];
  /**
   * Required metadata: a memory's metadata contains these values under these names, at any depth.
   */
  metadata?: Record<string, unknown>;
  /** The least importance, 1 to 10. */
  min_importance?: number | null;
  /** The namespaces. Default: the server's. */
  namespaces?: string[];
  /** Only memories of any of these robots. */
  robots?: string[];
  /** Only memories of this conversation. */
  session?: string | null;
  /** Only memories from any of these sources. */
  sources?: string[];
  /** Required tags, each with the tags below it. */
  tags?: string[];
  /**
   * The time: `last week`, `2026-03-01..2026-04-01`, `auto` (taken from the query). Default: any.
   */
  timeframe?: string | null;
  /** Only memories of any of these kinds: `fact`, `decision`, … */
  types?: string[];
}

/** The memories to forget: those that match a text. */
export interface ForgetMatching {
  /** Whether memories of any robot may be forgotten. */
  any_robot?: boolean;
  /** The act is refused without it. */
  confirm?: boolean;
  /** Answers with the plan, and forgets nothing. */
  dry_run?: boolean;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The robot that forgets: it may forget what it remembered. Default: the server's. */
  robot?: string | null;
  /** The words that they contain. */
  text: string;
}

/** The plan of a forget by content. Confirming it forgets exactly these nodes. */
export interface ForgetPlan {
  /** The nodes, oldest first; `MAX_MATCHES` at most. */
  matches: Match[];
  /** Whether more nodes match. */
  more: boolean;
  /**
   * The number of matching nodes that the caller may not forget, because other robots remembered
   * them.
   */
  of_others: number;
}

/** Why a node was forgotten. */
export type ForgetReason = "asked" | "expired" | "retention" | "unloaded";

/** The receipt of a forget. */
export interface Forgotten extends Removed {
  /** The forgotten nodes; `htm.restore` brings each back. */
  forgotten: NodeId[];
  /** Nodes of the plan that were edited or forgotten meanwhile and are left as they are. */
  left: NodeId[];
}

/** A node that can be restored. */
export interface ForgottenNode {
  /** When it was forgotten. */
  deleted_at: string;
  /** The beginning of its text, about 100 characters. */
  excerpt: string;
  /** Its former key. */
  key?: string | null;
  /** Its namespace. */
  namespace: string;
  /** The node. */
  node: NodeId;
  /** Why it was forgotten. */
  reason: ForgetReason;
  /** The robot that remembered it. */
  robot: string;
}

/** A page of forgotten memories. */
export interface ForgottenPage {
  memories: ForgottenNode[];
  /** The cursor of the next page; null: this is the last. */
  next?: string | null;
}

/** The context of a group. */
export interface GroupContext {
  /** The memories of the context. Default: the whole working memory. */
  filter?: FilterBody;
  /** Whether each memory has a line with its age, its source, and the memory that supersedes it. */
  header?: boolean;
  /** The most tokens of the text, 1 to 1,000,000. Default: 4,000. */
  max_tokens?: number | null;
  /** The membership. */
  membership: MembershipId;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The order: recent, important, frequent, balanced. Default: balanced. */
  order?: string | null;
  /** The separator between two memories, up to 1,024 characters. Default: an empty line. */
  separator?: string | null;
}

/** A group of nodes. */
export interface GroupCount {
  /** Its name; none for nodes without one. */
  name?: string | null;
  /** Its namespace; none for a type, which spans them. */
  namespace?: string | null;
  /** Its live nodes. */
  nodes: number;
  /** Their tokens; none for a tag. */
  tokens?: number | null;
}

/** A group of robots. */
export type GroupId = number;

/** A group. */
export interface GroupInfo {
  /** When it was shut down; none while it is open. */
  closed_at?: string | null;
  /** When it was created. */
  created_at: string;
  /** Its number. */
  id: GroupId;
  /** The token budget of its working memory. */
  max_tokens: number;
  /** Its members: the active ones first, each in the order of joining. */
  members: GroupMemberInfo[];
  /** Its name, unique in its namespace. */
  name: string;
  /** Its namespace. */
  namespace: string;
  /** The nodes in it. */
  nodes: number;
  /** The tokens in it, as counted when the nodes were written. */
  tokens: number;
  /** The version of its working memory. */
  version: number;
}

/** A member of a group, by the database's clock. */
export interface GroupMemberInfo {
  /** Whether it was seen within its lease. */
  alive: boolean;
  /** When its current process joined. */
  joined_at: string;
  /** Its lease, in milliseconds. */
  lease_ms: number;
  /** The robot's name. */
  robot: string;
  /** Its role. */
  role: GroupRole;
  /** The version of the working memory that it last reported. */
  seen_version: number;
  /** Milliseconds since it was seen. */
  unseen_ms: number;
}

/** The news for a member, by a heartbeat. */
export interface GroupNews {
  /** The token budget of the working memory. */
  max_tokens: number;
  /** Added and used nodes, in the order in which they were added. */
  nodes: Entry[];
  /** Removed nodes. */
  removed: NodeId[];
  /** Its role. */
  role: GroupRole;
  /** The version of the working memory. An edit of a node is no new version; a context has it. */
  version: number;
  /** Whether `nodes` are the whole working memory, and not what has changed. */
  whole: boolean;
}

/** The role of a group's member. */
export type GroupRole = "active" | "passive";

/** The utilisation of a group's working memory. */
export interface GroupUse {
  /** Active members within their lease. */
  active: number;
  /** Its name. */
  group: string;
  /** Its token budget. */
  max_tokens: number;
  /** Its members. */
  members: number;
  /** Its namespace. */
  namespace: string;
  /** Live nodes in its working memory. */
  nodes: number;
  /** Their tokens. */
  tokens: number;
  /** The used share of the budget, 0 to 1; more if a node in it grew. */
  utilisation: number;
}

/** A heartbeat. */
export interface Heartbeat {
  /** The membership. */
  membership: MembershipId;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /**
   * The version of the working memory that the member has. Default: none; the answer has the whole
   * working memory.
   */
  version?: number | null;
}

/** A hit. */
export interface Hit extends Node {
  /**
   * The number of times that it was a hit before. Saved in the background, so the last seconds may
   * be missing.
   */
  access_count: number;
  /** The memories after it, the earliest first. */
  after?: Node[];
  /** The memories before it in its conversation or document, the earliest first, if requested. */
  before?: Node[];
  /** The parts of its score, if requested. */
  explanation?: Explanation | null;
  /** Its folded near-duplicates, or the other passages of its document, the best first. */
  folded: NodeId[];
  /**
   * The memory that was found, if this one supersedes it and has taken its place
   * (`RecallQuery::follow`). The scores are those of the memory that was found.
   */
  followed_from?: Predecessor | null;
  /** When it was last a hit. */
  last_accessed?: string | null;
  /** The kind of match that found it. */
  matched_by: MatchedBy;
  /** The scores that decide its place. */
  scores: Scores;
  /** Its best excerpt, if requested. */
  snippet?: string | null;
}

/** An ontology to import. */
export interface ImportOntology extends Change {
  /** The document, as the export makes it. */
  document: OntologyDocument;
  /** Whether its descriptions replace existing ones. */
  overwrite_descriptions?: boolean;
  /** Its source, for the log. Default: `http`. */
  source?: string | null;
}

/** The receipt of an import, or of its dry run. */
export interface Imported extends Changed {
  /** Tags of the document that are synonyms here and were replaced by their tags. */
  called: Synonym[];
  /** Tags that kept a description other than the document's. */
  descriptions_kept: string[];
}

/** The result of an imported line. */
export interface ImportedLine {
  /** The kind of the line. */
  kind: LineKind;
  /** The memory's node; none for other lines. */
  node?: NodeId | null;
  /** The outcome. */
  outcome: Outcome;
}

/** The disk space of an index. */
export interface IndexSize {
  /** Bytes. */
  bytes: number;
  /** Its name. */
  name: string;
  /** Its table. */
  table: string;
}

/** The effect of adding nodes to a working memory. */
export interface Intake {
  /** Evicted nodes, in the order of their eviction. */
  evicted: NodeId[];
  /** Nodes that were not added: each alone exceeds the budget. */
  oversized: Oversized[];
}

/** The result of one of many writes. */
export type ItemWritten = Written | Problem;

/** All data of a job. */
export interface Job {
  /** The number of attempts, including the one in progress. */
  attempts: number;
  /** The time since which it has been deferred, no attempt counted. */
  deferred_since?: string | null;
  /** The time from which it may be claimed, or might have been. */
  due_at: string;
  /** The time when it was done or died. */
  ended_at?: string | null;
  /** The worker that holds it. */
  held_by?: string | null;
  /** The time of the claim. */
  held_since?: string | null;
  /** Its id, a ULID. */
  id: string;
  /**
   * The key that refuses a second job like it: node/revision/generation/model, or the namespace
   * that it learns for.
   */
  key?: string | null;
  /** The error of its last attempt. */
  last_error?: string | null;
  /** The maximum number of attempts. */
  max_attempts: number;
  /** The namespace of its node, or the one that it learns for. */
  namespace?: string | null;
  /** Its node; none if it learns. */
  node?: NodeId | null;
  /** Its outcome, if it is done. */
  outcome?: string | null;
  /** The reason why it is parked. */
  parked?: ParkedFor | null;
  /** The payload, as stored. JSON shows it decoded, or escaped if it cannot be decoded. */
  payload: unknown;
  /** The priority; the largest is claimed first. Backfill is below 0. */
  priority: number;
  /** Its queue. */
  queue: string;
  /** The time of reading, by the database's clock. */
  read_at: string;
  /** The revision of the node that it is for. */
  revision?: number | null;
  /** Its state. */
  state: JobState;
}

/** A page of jobs. */
export interface JobPage {
  jobs: Job[];
  /** The cursor of the next page; null: this is the last. */
  next?: string | null;
}

/**
 * The state of a job, for people. The row has four states; a pending job is due, waiting or parked.
 */
export type JobState = "due" | "waiting" | "parked" | "running" | "done" | "dead";

/** A new member. */
export interface Join {
  /**
   * The time between two heartbeats after which it is lost, in milliseconds, 100 to 86,400,000.
   * Default: 30,000.
   */
  lease_ms?: number | null;
  /** The token budget of the group, if this is its first member. Default: 128,000. */
  max_tokens?: number | null;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The robot. */
  robot: string;
  /** Its role. Default: active if no other active member is alive, otherwise passive. */
  role?: GroupRole | null;
}

/** A membership. */
export interface Joined extends GroupNews {
  /** The time after a heartbeat for which the member is alive. Send one each third of it. */
  lease_ms: number;
  /** Its id. Its holder acts for the robot. */
  membership: MembershipId;
}

/** The keepers of a memory. */
export interface Keepers {
  /** The groups with it in their working memory, by name. */
  groups: string[];
  /** The robots, by name. */
  robots: KeptBy[];
}

/** A robot that keeps a memory. */
export interface KeptBy {
  /** Its first repeat; none without repeats. */
  first_repeat?: string | null;
  /** Whether its saved working memory holds it. */
  in_working_memory: boolean;
  /** Its last repeat. */
  last_repeat?: string | null;
  /** Whether it remembered the memory first. */
  made: boolean;
  /** Its namespace; a working memory may hold nodes of other namespaces. */
  namespace: string;
  /** The number of times that it remembered the memory, including the first. */
  remember_count: number;
  /** Its name. */
  robot: string;
}

/** The text of a whole key, or of the token of a sign-in. It shows itself only on request. */
export type KeyText = string;

/** Keys. */
export interface Keys {
  /** The newest first. */
  keys: ApiKey[];
}

/** The state of a namespace's learning. */
export interface Learning {
  /** The authors of feedback, the most active first; at most 20. */
  authors: FeedbackAuthor[];
  /** Of these, those with a used memory, of all namespaces that learn together. */
  judged: number;
  /** Recalls that are kept. */
  kept: number;
  /** The number of judged recalls at which a ranking is learnt next. */
  learns_at: number;
  /** The namespace. */
  namespace: string;
  /** Its settings. */
  settings: LearningSettings;
  /** The version that orders its hits; 0 is the default ranking. */
  version: number;
}

/** The settings of learning in a namespace. A field that is not given has its default. */
export interface LearningBody {
  /** Whether recalls are kept, so that they can be judged. */
  is_on: boolean;
  /** The days for which a judged recall is kept, 1 to 3,650. Default: 90. */
  keep_days?: number | null;
  /** Whether the texts of queries are kept too. Default: false. */
  keeps_text?: boolean | null;
  /** The namespace whose ranking it shares. Default: its own. */
  learns_with?: string | null;
  /** The number of judged recalls from which a ranking is learnt, 20 to 100,000. Default: 100. */
  least?: number | null;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The signals that count beside feedback. Default: none. */
  signals?: Signal[] | null;
}

/** The recalls that a namespace keeps, and for how long. */
export interface LearningSettings {
  /**
   * Whether recalls are kept, so that they can be judged. A ranking in use stays in use without it.
   */
  is_on?: boolean;
  /**
   * The days for which a judged recall is kept, 1 to 3,650. One that nobody judges is kept for a
   * day.
   */
  keep_days?: number;
  /** Whether the texts of queries are kept too. */
  keeps_text?: boolean;
  /**
   * The namespace whose ranking it shares; none: its own. Feedback of namespaces that share a
   * ranking is put together.
   */
  learns_with?: string | null;
  /**
   * The number of recalls with a used memory from which a ranking is learnt, 20 to 100,000. It is
   * learnt again when a fifth more are there.
   */
  least?: number;
  /** The signals that count beside feedback. */
  signals?: Signal[];
}

/** A membership that has ended. */
export interface Left {
  /** The robot. */
  robot: string;
}

/** A node of the working memory that is not in the context. */
export interface LeftOut {
  /** The node. */
  node: NodeId;
  /** The reason. */
  reason: LeftOutReason;
  /** The number of tokens of its text, with its header if it was too large or found no room. */
  tokens: number;
}

/** The reason why a node is not in a context. */
export type LeftOutReason =
  | "oversized"
  | "no_room"
  | "forgotten"
  | "evicted"
  | "duplicate"
  | "filtered";

/** The treatment of the nodes of a split tag whose text fits none of the tags in its place. */
export type Leftover = "keep" | "first";

/** A search for candidates. */
export type Leg = "exact" | "narrow" | "index" | "text" | "bm25";

/** Limits of a provider's model. Null removes one; one that is not given stays. */
export interface Limits {
  /** Concurrent calls, at least 1. */
  concurrent_calls?: number | null;
  /** The model, such as `openai/text-embedding-3-small`. */
  model: string;
  /** Requests a minute, at least 1. */
  requests_per_minute?: number | null;
  /** Tokens a minute, at least 1. */
  tokens_per_minute?: number | null;
}

/** The result of a line. */
export type LineImported = LineOutcome & {
  /** The number of the line, from 1. */
  line: number;
};

/** The kind of a line of an export or an import. */
export type LineKind =
  | "header"
  | "model"
  | "retention"
  | "budget"
  | "limits"
  | "robot"
  | "group"
  | "change"
  | "name"
  | "tag"
  | "memory"
  | "revision"
  | "relation"
  | "document"
  | "quota"
  | "learning"
  | "ranking"
  | "end";

/** The receipt or the problem of a line. */
export type LineOutcome = ImportedLine | {
  /** Why. */
  problem: Problem;
};

/** The outcome of loading a document. */
export type LoadOutcome = "loaded" | "changed" | "unchanged";

/** The result of loading a document. */
export interface LoadedDocument {
  /** The passages that were forgotten. */
  forgotten: number;
  /** Those of them that it had before. They keep their nodes, their vectors and their tags. */
  kept: number;
  /** The outcome. */
  outcome: LoadOutcome;
  /** The passages that it has now. */
  passages: number;
  /** The path. */
  path: string;
  /** Those of them that were written. */
  written: number;
}

/** A change in the log. */
export interface LoggedChange {
  /** Its number. */
  change: number;
  /** The request. */
  details: unknown;
  /** Its kind. */
  kind: ChangeKind;
  /** When it was made. */
  made_at: string;
  /** The author. */
  made_by?: string | null;
  /** The number of its names. */
  names: number;
  /** The number of nodes with changed or renamed tags. */
  nodes: number;
  /** The change that reverted it. */
  reverted_by?: number | null;
}

/** The missing part of a stage. */
export type Loss = "job" | "vector";

/** The results of many writes. */
export interface ManyWritten {
  /** A result for each memory, in their order: a receipt or a problem. */
  results: ItemWritten[];
}

/** The query of a map. */
export interface MapBody {
  /** The memories of the map. */
  filter?: FilterBody;
  /** The most memories, 1 to 5,000: a sample of those that pass the filter. Default: 2,000. */
  limit?: number | null;
}

/** The place of a memory. */
export interface MapPoint {
  /** When it happened. */
  created_at: string;
  /** The start of its text: at most 160 characters, then `…`. */
  excerpt: string;
  /** The memory. */
  node: NodeId;
  /** The robot that remembered it. */
  robot: string;
  /** The first levels of its tags, by name. */
  topics: string[];
  /** From -1 to 1, in the same scale as y. */
  x: number;
  /** From -1 to 1. */
  y: number;
}

/** A node that contains the text. */
export interface Match {
  /** When it happened. */
  created_at: string;
  /** The text around the first match, about 100 characters. */
  excerpt: string;
  /** The node. */
  node: NodeId;
  /** Its revision. */
  revision: number;
  /** The robot that remembered it. */
  robot: string;
}

/** The kind of match that found a hit. */
export type MatchedBy = "vector" | "text" | "both" | "time" | "tag" | "neighbour";

/** The plan, and what was forgotten. */
export interface MatchingForgotten {
  /** The forgotten memories. Null for a dry run. */
  forgotten?: Forgotten | null;
  /** The matches. */
  plan: ForgetPlan;
}

/** A membership of a robot in a group. Its holder acts for the robot. */
export type MembershipId = string;

/** Changes of a memory. Fields that are not given stay. */
export interface MemoryEdit {
  /** Tags to add. */
  add_tags?: string[];
  /** Whether a memory of any robot may be changed. */
  any_robot?: boolean;
  /** The new text. */
  content?: string | null;
  /** When it expires; null: never. */
  expires_at?: string | null;
  /** 1 to 10. */
  importance?: number | null;
  /** Its key; null removes it. */
  key?: string | null;
  /** Entries to set; null removes one. */
  metadata?: Record<string, unknown>;
  /** The namespace of the robot that edits. Default: the server's. */
  namespace?: string | null;
  /** Tags to remove. */
  remove_tags?: string[];
  /** The robot that edits: it may change what it remembered. Default: the server's. */
  robot?: string | null;
  /** Its source; null removes it. */
  source?: string | null;
  /** Instead of `expires_at`: the seconds from now to its expiry. */
  ttl_seconds?: number | null;
  /** Its kind; null removes it. */
  type?: string | null;
}

/** A sample of memories in two dimensions. */
export interface MemoryMap {
  /** Those that have a vector of this model. The sample is of these. */
  embedded: number;
  /** The number of memories that pass the filter. */
  memories: number;
  /** The embedding model whose vectors are shown, the active one; none: there is none. */
  model?: string | null;
  /** The sample, in the order of ids. The same memories give the same places. */
  points: MapPoint[];
  /** The share of the vectors' variance that is along x, 0 to 1. */
  variance_x: number;
  /** The share that is along y. */
  variance_y: number;
}

/** The statistics, all of one instant. */
export interface MemoryStats {
  /** The ages of the live memories. */
  ages: Ages;
  /** The progress of the live nodes, by stage and model. */
  enrichment: Enrichment[];
  /** The open groups, the fullest first. */
  groups: GroupUse[];
  /** The namespace; none for all. */
  namespace?: string | null;
  /** Live nodes by namespace. */
  namespaces: Counts;
  /** Live nodes by robot. */
  robots: Counts;
  /** The disk space of all namespaces; none for a restricted handle. */
  storage?: Storage | null;
  /** Live nodes by tag. */
  tags: Counts;
  /** The totals. */
  totals: Totals;
  /** Live nodes by type; no name for those without one. */
  types: Counts;
  /** The saved working memories, the fullest first. */
  working_memory: WorkingMemoryUse[];
  /** The handle's token budget of a working memory; a robot may have its own. */
  working_memory_tokens: number;
}

/** A row of a memory with the text that was looked for. */
export interface MemoryWithText {
  /** The columns of the table that have the text. */
  columns: string[];
  /** The memory. */
  node: NodeId;
  /** The table. */
  table: string;
}

/** The receipt of a merge. */
export interface MergeReceipt {
  /** The deleted robots. */
  from: string[];
  /** The remaining robot. */
  into: string;
  /** Ended group memberships. */
  memberships: number;
  /** The namespace. */
  namespace: string;
  /** Moved nodes, including forgotten ones. */
  nodes: number;
  /** Moved records of repeats. */
  repeats: number;
  /** Nodes added to its working memory. */
  working_memory: number;
}

/** A merge of robots. */
export interface MergeRobots {
  /** Answers with the plan, and changes nothing. */
  dry_run?: boolean;
  /** The robots that go. */
  from: string[];
  /** The robot that stays. */
  into: string;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
}

/** A merge of tags. */
export interface MergeTags extends Change {
  /** The tags that go. Their names become synonyms. */
  from: string[];
  /** The tag that stays. */
  into: string;
}

/** A message. */
export interface Message {
  /** The text. */
  content: string;
  /** When it was said. Default: now. */
  created_at?: string | null;
  /** The speaker's name, if it says more than the role. */
  name?: string | null;
  /**
   * The role of the speaker: `user`, `assistant`, … It is the speaker of a message without a name,
   * otherwise `role` of the metadata.
   */
  role: string;
}

/** An embedding model with its progress. */
export interface Model extends ModelOverview {
  dimensions: number;
  /** Its label, such as `local/all-MiniLM-L6-v2`. */
  label: string;
  /** Null: callers bring its vectors. */
  queue?: string | null;
  state: ModelState;
  vector_index: VectorIndex;
}

/** A model by provider and name, as in `local/all-MiniLM-L6-v2`. */
export interface ModelName {
  /** The provider's own name of the model. */
  name: string;
  /** `local`, `ollama`, `openai`, `fake`, or `caller` for vectors that come with writes. */
  provider: string;
}

/** The progress of a model. */
export interface ModelOverview {
  /** The size of its store and indexes, in bytes. */
  bytes: number;
  /** The number of dead letters in its queue. */
  dead: number;
  /** The number of nodes with an embedding of their current text. */
  embedded: number;
  /** Whether its vector index is complete. */
  indexed: boolean;
  /** The number of live nodes. */
  nodes: number;
  /** The number of open jobs in its queue. */
  open: number;
}

/** The use of a model by writes and by recall. */
export type ModelState = "building" | "active" | "standby" | "retired";

/** A renamed or merged tag. */
export interface Moved {
  /** Its former name. */
  from: string;
  /** Whether that tag existed before. */
  merged: boolean;
  /** Its new name, or the tag that it was merged into. */
  to: string;
}

/** The kinds of names in a filter. */
export type NameKind = "namespace" | "robot" | "tag";

/** A page of namespaces. */
export interface Namespaces {
  namespaces: string[];
  /** The cursor of the next page; null: this is the last. */
  next?: string | null;
}

/** A memory and its neighbours. */
export interface Neighbours {
  /** The memories after it, the earliest first. */
  after: Node[];
  /** The memories before it, the earliest first. */
  before: Node[];
  /** The memory. */
  node: Node;
}

/** The jobs to enqueue. */
export interface NewBackfill {
  /** Answers with the number of jobs, and enqueues none. */
  dry_run?: boolean;
  /** Also memories whose stage is done. */
  force?: boolean;
  /** The most backfill jobs that wait in the queue, at least 1. Default: 100,000. */
  max_queued?: number | null;
  /** The label of the embedding model. Default: the active one. */
  model?: string | null;
  /** Only memories of this namespace. Default: all. */
  namespace?: string | null;
  /**
   * Only memories that another version of the prompt or the rules, or another model, has tagged.
   */
  prompt_version?: string | null;
  /** Only memories since this time. */
  since?: string | null;
  /** The stage: `embed` or `tag`. */
  stage: Stage;
}

/** A budget of a namespace. */
export interface NewBudget {
  /** The namespace. */
  namespace: string;
  /** The tokens that it may spend a day. Null: any number. */
  tokens_per_day?: number | null;
}

/** A new key. */
export interface NewKey {
  /** The seconds until it expires. Null: never. */
  expires_in_seconds?: number | null;
  /** A name for people. */
  name?: string | null;
  /**
   * Its namespaces; `tenant-7/*` stands for every namespace below `tenant-7`. Null: all. An empty
   * list is refused.
   */
  namespaces?: string[] | null;
  /** The most requests a minute, over all servers. Null: no limit. */
  requests_per_minute?: number | null;
  /** The robot of its requests. Null: each request names its own. */
  robot?: string | null;
  /** The role of its holder. */
  role: Role;
}

/** Many memories. */
export interface NewMemories {
  /** Whether memories of any robot may be replaced. */
  any_robot?: boolean;
  /** The memories, at most 1,000. */
  memories: NewMemory[];
  /**
   * The conversations that the memories take the place of, at most 1,000: what these have is
   * forgotten in the same transaction. All is done then, or nothing. A memory without `created_at`
   * gets that of its conversation's first one.
   */
  replaces?: Replaced[];
  /** The robot that replaces what it remembered. Default: the server's. */
  robot?: string | null;
}

/** A memory to remember. Only the text is required. */
export interface NewMemory {
  /** The text: 1 byte to 1 MiB, not only white space. */
  content: string;
  /** When it happened. Default: now. */
  created_at?: string | null;
  /** When it expires. Default: never. */
  expires_at?: string | null;
  /**
   * Its importance, 1 to 10: 1–3 for transient facts, 7–10 for decisions and preferences. Default:
   * 1.
   */
  importance?: number | null;
  /** Its key, unique in its namespace. */
  key?: string | null;
  /** The PostgreSQL text search configuration that stems it. Default: the server's. */
  language?: string | null;
  /** Its metadata: an object of at most 64 KiB, 64 levels deep. */
  metadata?: Record<string, unknown>;
  /** Its namespace. Default: the server's. */
  namespace?: string | null;
  /** The robot that remembers. Default: the server's. */
  robot?: string | null;
  /** Its position in the conversation. */
  seq?: number | null;
  /** Its conversation. */
  session?: string | null;
  /** Its source: a file, a chat, a URL. */
  source?: string | null;
  /** Its speaker. */
  speaker?: string | null;
  /** Tags; the tag-worker adds its own. */
  tags?: string[];
  /** Instead of `expires_at`: the seconds from now to its expiry. A refresh starts them again. */
  ttl_seconds?: number | null;
  /** Its kind: `fact`, `decision`, `question`, … */
  type?: string | null;
  /** Its vectors, by the labels of models whose vectors callers bring. */
  vectors?: Record<string, number[]>;
}

/** The limits of a quota. Null removes one; one that is not given stays. */
export interface NewQuota {
  /** The most bytes of their texts. */
  max_bytes?: number | null;
  /** The most live memories. */
  max_memories?: number | null;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /**
   * The most requests a minute, of keys and tokens that see the namespace and no other.
   * `tenant-7/*` counts those of all namespaces below `tenant-7`.
   */
  requests_per_minute?: number | null;
}

/** A retention policy. Null keeps everything; a time that is not given stays. */
export interface NewRetention {
  /** A policy by which the next sweep removes something is refused without it. */
  confirm?: boolean;
  /** Answers with the plan, and sets nothing. */
  dry_run?: boolean;
  /** The age in seconds at which a memory is forgotten. */
  forget_after_seconds?: number | null;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The time in seconds from forgetting to deletion. */
  purge_after_seconds?: number | null;
}

/** A new robot. */
export interface NewRobot {
  /** Its metadata. */
  metadata?: Record<string, unknown>;
  /** Its name. Default: a new one, such as `quiet-heron-7`. */
  name?: string | null;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
}

/** A memory with its attributes. */
export interface Node {
  /** The text. */
  content: string;
  /** When it happened. */
  created_at: string;
  /** When it expires; none: never. */
  expires_at?: string | null;
  /** When it was first remembered. `created_at` is when it happened. */
  first_remembered: string;
  /** Its id. */
  id: NodeId;
  /** The importance, 1 to 10. */
  importance: number;
  /** Its key, if any. */
  key?: string | null;
  /** When it was last remembered. */
  last_remembered: string;
  /** The metadata, a JSON object. */
  metadata: unknown;
  /** Its namespace. */
  namespace: string;
  /** The number of times that it was remembered: 1, and 1 more for each repeat. */
  remember_count: number;
  /** The number of times that its text was written, from 1. */
  revision: number;
  /** The name of the robot that remembered it. */
  robot: string;
  /** Its position in the conversation. */
  seq?: number | null;
  /** The conversation. */
  session?: string | null;
  /** The source: a file, a chat, a URL. */
  source?: string | null;
  /** The speaker. */
  speaker?: string | null;
  /** The memories that supersede it, the last set first; empty: none does. */
  superseded_by?: Successor[];
  /** Tags, of every origin, in order of their paths. */
  tags: TagPath[];
  /** The number of tokens of the text. */
  token_count: number;
  /** The encoding that counted the tokens: the one configured when the text was written. */
  token_encoding: string;
  /** The time in seconds from a refresh to the expiry; none: a refresh does not move the expiry. */
  ttl_seconds?: number | null;
  /** The kind: `fact`, `decision`, … */
  type?: string | null;
  /** When its text was last written. */
  updated_at: string;
}

/** A node: one memory. */
export type NodeId = number;

/** A node's progress through the stages. */
export interface NodeStatus {
  /** The node. */
  node: NodeId;
  /** Embed and tag, in this order. */
  stages: StageStatus[];
  /** When its text was written, by the database's clock. */
  written_at: string;
}

/** A member of a group. */
export interface OfMember {
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The member. */
  robot: string;
}

/** A provider's model. */
export interface OfProvider {
  /** The model, such as `openai/text-embedding-3-small`. */
  model: string;
}

/**
 * The tags of a namespace with descriptions and synonyms, without nodes, counts and namespace: the
 * same ontology is always the same document.
 *
 * Its tags are normalised, each before the tags below it. Parents may be left out; they are added
 * anyway.
 */
export interface OntologyDocument {
  /** The tags. */
  tags: DocumentTag[];
  /** `DOCUMENT_VERSION`. */
  version: number;
}

/** The assignments of one origin. */
export interface OriginCount {
  /** Their mean confidence, if known. */
  mean_confidence?: number | null;
  /** The model; none for manual assignments. */
  model?: string | null;
  /** The number of live nodes. */
  nodes: number;
  /** The origin. */
  origin: TagOrigin;
  /** The version of its prompt or rules. */
  prompt_version?: string | null;
}

/** A tag of few nodes. */
export interface Orphan extends TagUse {
  /**
   * The suggested target: a tag with a similar name, otherwise the parent; none for a root without
   * a similar tag.
   */
  merge_into?: TagPath | null;
}

/** The outcome of a write. */
export type Outcome = "written" | "existing" | "repeated";

/** A node that exceeds the budget of a working memory. */
export interface Oversized {
  /** The node. */
  node: NodeId;
  /** Its tokens. */
  tokens: number;
}

/** A page of memories, the earliest first. */
export interface Page {
  memories: Node[];
  /** The cursor of the next page; null: this is the last. */
  next?: string | null;
}

/** The reason why a job is parked. */
export type ParkedFor = "budget" | "age";

/** A document, and a page of its passages in their order. */
export interface PassagePage {
  document: DocumentInfo;
  /** The cursor of the next page; null: this is the last. */
  next?: number | null;
  passages: Node[];
}

/** Why a queue is paused. */
export interface Pause {
  /** The reason, for people. */
  reason: string;
}

/** Whether a queue is paused. */
export interface Paused {
  /** Whether this call changed it. */
  changed: boolean;
  paused: boolean;
  queue: string;
}

/** The traces in a table. */
export interface PlaceFound {
  /** The data of memories in it. */
  holds: string;
  /** The number of rows with the given text. Null: none was given. */
  mentions?: number | null;
  /** The table. */
  table: string;
  /** The number of rows about the erased memories. */
  traces: number;
  /** When the table was vacuumed last, if that was after the erasure. */
  vacuumed_at?: string | null;
}

/** A memory that is superseded by another one. */
export interface Predecessor {
  /** When it happened. */
  created_at: string;
  /** The first 100 characters of its text. */
  excerpt: string;
  /** When the relation was set. */
  made_at: string;
  /** Its id. */
  node: NodeId;
  /** The reason, if one was given. */
  reason?: string | null;
}

/** Problem details (RFC 9457). */
export interface Problem {
  /** A URI reference of the kind of problem. */
  type: string;
  /** What the code means. */
  title: string;
  /** The HTTP status. */
  status: number;
  /** What was wrong, with its value. */
  detail: string;
  /** A stable code for programs, such as `key_taken`. `x-codes` lists those of this version. */
  code: string;
  /** The next step. */
  hint: string;
  /** Values of the detail for programs, such as the node that has a key. */
  values?: Record<string, string>;
}

/**
 * A model of a provider, as an operator sees it. A model without limits that never failed has no
 * row.
 */
export interface Provider {
  /** The state of its breaker. */
  breaker: BreakerState;
  /** Calls in progress; counted only if `concurrent_calls` is set. */
  calls: number;
  /** The most concurrent calls; none: no limit. */
  concurrent_calls?: number | null;
  /** Consecutive failed calls. */
  failures: number;
  /**
   * The time for which nothing is claimed yet, in milliseconds; none if the model may be called.
   */
  held_ms?: number | null;
  /** The model's label. */
  model: string;
  /** The reason of the last failure. */
  reason?: string | null;
  /** The most requests that the fleet may send in a minute; none: no limit. */
  requests_per_minute?: number | null;
  /** The provider's Retry-After: no call before. It may have passed. */
  resume_at?: string | null;
  /** Open: the time of the next trial call. Half open: the time when that trial is given up. */
  retry_at?: string | null;
  /** The most tokens that it may send in a minute; none: no limit. */
  tokens_per_minute?: number | null;
  /** Calls that wait in line for a limit. */
  waiting: number;
}

/** The memories to purge. */
export interface PurgeBody {
  /** Whether to purge all namespaces. */
  all?: boolean;
  /** Whether memories of any robot may be purged. */
  any_robot?: boolean;
  /** Memories that were forgotten before this time. */
  before: string;
  /** The act is refused without it. */
  confirm?: boolean;
  /** Answers with the counts, and deletes nothing. */
  dry_run?: boolean;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The robot that purges what it remembered. Default: the server's. */
  robot?: string | null;
}

/** The receipt of a purge. */
export interface Purged extends Removed {
  /** Completions. */
  completions: number;
  /** Records of repeated memories. */
  repeats: number;
  /** Former texts. */
  revisions: number;
  /** Entries of working memories, of robots and groups. */
  working_memory: number;
}

/** The jobs of a queue that ended in one minute. */
export interface QueueMinute {
  /** Jobs that became dead letters, and still are. */
  dead: number;
  /** Jobs that were done. Pruned ones are not counted. */
  done: number;
  /**
   * The median time from when a job was due until it was done, in milliseconds; none if none was
   * done.
   */
  median_ms?: number | null;
  /** The start of the minute. */
  minute: string;
  /** The same for the slowest twentieth of them. */
  p95_ms?: number | null;
  /** The queue. */
  queue: string;
}

/** A queue as an operator sees it. */
export interface QueueStats {
  /** Backfill jobs among those that are not ended. */
  backfill: number;
  /** Dead letters. */
  dead: number;
  /** Jobs that are done, and not pruned yet. */
  done: number;
  /** Jobs that can be claimed. */
  due: number;
  /**
   * The reason why nothing is claimed at the moment although it is not paused: the database refuses
   * the results, or calls to the model's provider are held.
   */
  held?: string | null;
  /** The end of that hold. */
  held_until?: string | null;
  /**
   * The label of the model that its jobs are for; none before one is registered, and for learning.
   */
  model?: string | null;
  /** The time for which the longest due job has been due, in milliseconds; none if none is due. */
  oldest_due_ms?: number | null;
  /** Jobs that wait for a budget or for an operator. */
  parked: number;
  /** The reason of its pause; none if it is not paused. */
  paused?: string | null;
  /** The time of its pause. */
  paused_at?: string | null;
  /** Its name. */
  queue: string;
  /** The database's error, if it refuses the results at the moment. */
  refused?: string | null;
  /** Jobs that are held by a worker. */
  running: number;
  /** Jobs that wait for their next attempt. */
  waiting: number;
  /** Live workers. */
  workers: number;
}

/** The quota of a namespace. */
export interface Quota {
  /** The most bytes of their texts. None: no limit. */
  max_bytes?: number | null;
  /** The most live memories. None: no limit. */
  max_memories?: number | null;
  /**
   * The most requests a minute to servers, of all callers that are bound to the namespace. None: no
   * limit.
   */
  requests_per_minute?: number | null;
}

/** A quota and its use. */
export interface QuotaAndUse {
  quota: Quota;
  /**
   * The namespace's use. Null for a pattern such as `tenant-7/*`: its quota is of requests alone.
   */
  used?: QuotaUse | null;
}

/** The use of a namespace's quota. */
export interface QuotaUse {
  /** The bytes of their texts. */
  bytes: number;
  /** The live memories. */
  memories: number;
}

/** A change of the version that orders the hits. */
export interface RankingChoice {
  /** When it was chosen. */
  chosen_at: string;
  /** The person or program that chose it. */
  chosen_by: string;
  /** The version before. */
  former: number;
  /** The reason. */
  reason: string;
  /** The version since then; 0 is the default ranking. */
  version: number;
}

/** How two rankings compare on live recalls. */
export interface RankingComparison {
  /**
   * The probability of a difference at least as large by chance, if both were equally good: a two-
   * sided sign test.
   */
  by_chance?: number | null;
  /**
   * Of these, those on which it would have shown other hits among the first ten, or another order.
   */
  differing: number;
  /** Interleaved recalls that were judged. */
  interleaved: number;
  /** Those with fewer. */
  losses: number;
  /** Recalls on which it ran in the shadow. */
  shadowed: number;
  /** The verdict, for people. */
  verdict: string;
  /** The tried version. */
  version: number;
  /** Of these, those with more used hits of the tried version. */
  wins: number;
}

/** The evaluation of a ranking, on recalls that it was not fitted to. */
export interface RankingFigures {
  /** Their authors. */
  authors: number;
  /** Their blocks: an author's recalls of an hour each. */
  blocks: number;
  /** The confidence of the interval, such as 0.95. */
  confidence: number;
  /** Its upper end. */
  gain_high: number;
  /** The lower end of the bootstrap interval of the gain in nDCG. */
  gain_low: number;
  /** The judged recalls that it was learnt from. */
  judged: number;
  /** nDCG at ten of the learnt ranking. */
  ndcg: number;
  /** nDCG at ten of the default ranking on these. */
  ndcg_default: number;
  /** Recall at ten of the learnt ranking. */
  recall: number;
  /** Recall at ten of the default ranking. */
  recall_default: number;
  /** The recalls of blocks that were left out of a fit, on which it was evaluated. */
  tested_on: number;
}

/** A learnt ranking of a namespace. */
export interface RankingInfo {
  /** Its evaluation. */
  figures: RankingFigures;
  /** Whether it orders the hits now. */
  is_active: boolean;
  /** When it was learnt. */
  made_at: string;
  /** The namespace. */
  namespace: string;
  /** The reason, for people. */
  reason: string;
  /** The number of its trees. */
  trees: number;
  /** The reason why this program cannot use it. */
  unusable?: string | null;
  /** Its version, from 1. */
  version: number;
  /** Whether its evaluation was good enough for it to be used at once. */
  was_adopted: boolean;
  /** The weights that are not 0, or were not 0 by default. */
  weights: RankingWeight[];
}

/** The ranking that ordered the hits. */
export interface RankingUsed {
  /** The reason why the default ranking stood in for the chosen version. */
  fallback?: string | null;
  /** The version that was mixed in, if two rankings are compared on live recalls. */
  interleaved_with?: number | null;
  /** Its version; 0 is the default ranking. */
  version: number;
  /** The weights of a learnt ranking, if an explanation was requested. */
  weights?: RankingWeight[];
}

/** A feature's weight. */
export interface RankingWeight {
  /** The feature in words. */
  about: string;
  /** Its weight by default: what it adds to a score at most, about. */
  by_default: number;
  /** The feature. */
  feature: string;
  /** Its weight in this ranking. */
  weight: number;
}

/** The rankings of a namespace. */
export interface Rankings {
  /** The version that orders hits; 0 is the default ranking. */
  active: number;
  /** The last 20 changes of the active version, the newest first. */
  choices: RankingChoice[];
  /** The namespace that they belong to: the one asked for, or the one that it learns with. */
  namespace: string;
  /** The learnt ones, the newest first. */
  rankings: RankingInfo[];
  /** The version that is tried on live recalls. */
  trial?: Trial | null;
}

/** A query. Only the text is required. */
export interface RecallBody {
  /**
   * Answers as the memory stood at this time: a date (midnight in the server's time zone), an RFC
   * 3339 time, or words. Its hits enter no working memory, count as no access and refresh nothing.
   * Default: now.
   */
  as_of?: string | null;
  /** Preferred tags: hits are then ordered by relevance. */
  boost_tags?: string[];
  /** Whether unknown words are spell-corrected. Default: true. */
  correct?: boolean | null;
  /** Whether hits count as accessed. Default: true. */
  count_accesses?: boolean | null;
  /** Prefers hits that differ: 0 (score only) to 1 (novelty only). */
  diversity?: number | null;
  /** Whether a language model rephrases the query. */
  expand?: boolean;
  /** Whether to return the parts of each score. */
  explain?: boolean;
  /** The searched memories. */
  filter?: FilterBody;
  /** Whether near-duplicates become one hit. */
  fold?: boolean;
  /** Whether the passages of a document become one hit. */
  fold_documents?: boolean;
  /** Whether a memory that supersedes a hit takes its place. */
  follow?: boolean;
  /** The most hits, 1 to 10,000. Default: 20. */
  limit?: number | null;
  /** The least cosine similarity of hits by vectors, 0 to 1. */
  min_similarity?: number | null;
  /** The labels of the embedding models to search. Default: the active one. */
  models?: string[];
  /**
   * The neighbours to return of each hit in a conversation or a document, on each side: 0 to 10,
   * none with `as_of`. Default: 0.
   */
  neighbours?: number;
  /** Weights of relevance: `similarity=0.7,recency=0.3`, or `relevance`. */
  order_by?: string | null;
  /**
   * The question or the words. `"a phrase"` is preferred, `-word` is excluded, `word*` is a prefix.
   * With `vector` and strategy `vector` it may be left out.
   */
  query?: string;
  /** Whether the hits' times to live start again. Needs a writer's key. */
  refresh?: boolean;
  /** Whether a re-ranker orders the first candidates. */
  rerank?: boolean;
  /**
   * The robot that asks: the hits enter its working memory, which needs a writer's key. Default:
   * nobody.
   */
  robot?: string | null;
  /** Whether to return the best excerpt of each hit. */
  snippets?: boolean;
  /** How it searches. Default: hybrid. */
  strategy?: Strategy | null;
  /** Its vector by the searched model, in place of an embedding by the model's provider. */
  vector?: number[] | null;
}

/** The answer of a recall: the hits, and the limits of the search. */
export interface Recalled {
  /** The time as of which the answer is, and its limits; none: now. */
  as_of?: AsOf | null;
  /** The choice of `Strategy::Auto`; none for other strategies. */
  chosen?: Chosen | null;
  /** Spell-corrections: unknown words and their replacements. */
  corrected: Correction[];
  /** The steps that did not run, and why. */
  degraded: Degraded[];
  /** Milliseconds for the query's embedding (0 if cached or not needed). */
  embed_ms: number;
  /** Milliseconds for the expansion. */
  expand_ms: number;
  /** Other phrasings that were searched. */
  expansions: string[];
  /** The tags of the hits, the most frequent first. */
  facets: Facet[];
  /** The hits, best first. */
  hits: Hit[];
  /**
   * The active model, if one on standby answered because this program has no embedder of the active
   * one.
   */
  instead_of?: string | null;
  /** The searches that ran. */
  legs: Leg[];
  /** The labels of the searched models; empty without vectors. */
  models: string[];
  /** The ranking that ordered the hits. */
  ranking: RankingUsed;
  /** The id by which feedback names this recall; none where learning is off. */
  recall_id?: string | null;
  /**
   * Whether the words of the required phrases were searched, because no memory in scope has the
   * phrases.
   */
  relaxed: boolean;
  /** Milliseconds for the re-ranker. */
  rerank_ms: number;
  /** Milliseconds for the search, including network time. */
  search_ms: number;
  /** The requested strategy. */
  strategy: Strategy;
  /** The time phrase that was taken from the query's text, with `TimeFilter::Auto`. */
  time_phrase?: TimePhrase | null;
  /** The resolved timeframe. */
  timeframe: TimeRange[];
  /**
   * Nodes in namespace and timeframe whose embedding is pending: vectors find them by a former
   * text, or not at all. At most 1,001 are counted. For a building model or one of callers, only
   * the latest 200 nodes are looked at. 0 for full text, which needs no embedding.
   */
  unembedded: number;
  /** The kind of the vector search; none without vectors or vector hits. */
  vector_search?: VectorSearch | null;
}

/** The receipt of a write. */
export interface Receipt {
  /** The node. */
  node: NodeId;
  /** The outcome. */
  outcome: Outcome;
  /** The position in its conversation, if the write chose it: the memory continues it. */
  seq?: number | null;
}

/** The number of memories whose time to live was started again. */
export interface Refreshed {
  /** 0 for a memory without a time to live. */
  refreshed: number;
}

/** A registered embedding model. */
export interface RegisteredModel {
  /** The length of its vectors. */
  dimensions: number;
  /** Its number; its vectors are in `htm.embeddings_<id>`. */
  id: number;
  /** Its unique label: `provider/name`, with `@dimensions` if another model has that name. */
  label: string;
  /** Provider and name. */
  name: ModelName;
  /** The queue of its jobs; none: its callers bring the vectors. */
  queue?: string | null;
  /** Its state. */
  state: ModelState;
  /** The kind of the index of its vectors. */
  vector_index: VectorIndex;
}

/** The memories that a memory is related to. */
export interface Related {
  /** The number of its former texts, which `Htm::revisions` lists. */
  former_texts: number;
  /** The memory that was asked about. */
  node: NodeId;
  /** The derived relations that could not be looked for, and why. */
  not_searched: string[];
  /**
   * The related memories: those of relations that were set first, then near-duplicates, then those
   * with the same tags.
   */
  related: RelatedNode[];
}

/** The way in which a memory is related to the one that was asked about. */
export type RelatedBy =
  | "supersedes"
  | "superseded_by"
  | "contradicts"
  | "near_duplicate"
  | "shared_tags";

/** A related memory. */
export interface RelatedNode {
  /** The way in which it is related. */
  by: RelatedBy;
  /** When it happened. */
  created_at: string;
  /** The first 100 characters of its text. */
  excerpt: string;
  /** When the relation was set; none of a derived one. */
  made_at?: string | null;
  /** The robot that set the relation; none of a derived one. */
  made_by?: string | null;
  /** Its id. */
  node: NodeId;
  /** The reason of a relation that was set, if one was given. */
  reason?: string | null;
  /** The name of the robot that remembered it. */
  robot: string;
  /** The cosine similarity of a near-duplicate. */
  similarity?: number | null;
  /** The shared tags, the rarest first. */
  tags?: TagPath[];
}

/** The receipt of a relation. */
export interface Relating extends Relation {
  /** Whether it is new. A repeat changes nothing. */
  is_new: boolean;
  /** The relations that it has ended: those by which the other memory superseded this one. */
  removed?: Relation[];
}

/** A relation that a person or an agent has set. */
export interface Relation {
  /** The memory that supersedes or contradicts. */
  from: NodeId;
  /** The kind. */
  kind: RelationKind;
  /** When it was set. */
  made_at: string;
  /** The reason, if one was given. */
  reason?: string | null;
  /** The robot that set it, by its name at that time. */
  robot: string;
  /** The memory that is superseded or contradicted. */
  to: NodeId;
}

/** A relation of the memory of the path to another one. */
export interface RelationBody {
  /** Whether the memory of the path may be of any robot. */
  any_robot?: boolean;
  /** The kind. */
  kind: RelationKind;
  /** The namespace of the robot that says so. Default: the server's. */
  namespace?: string | null;
  /** The reason. */
  reason?: string | null;
  /**
   * The robot that says so: it must have first remembered the memory of the path. Default: the
   * server's.
   */
  robot?: string | null;
  /** The memory that is superseded or contradicted. */
  to: NodeId;
}

/** The kind of a relation that is set. */
export type RelationKind = "supersedes" | "contradicts";

/** A memory to remove from a group's working memory. */
export interface RemoveFromGroup {
  /** The membership. */
  membership: MembershipId;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The id of the memory. */
  node: NodeId;
}

/** A synonym to remove. */
export interface RemoveSynonym extends Change {
  /** The other name. */
  name: string;
}

/** A tag to remove. */
export interface RemoveTag extends Change {
  /** Whether the memories that have it lose it. Otherwise such a tag is kept. */
  assigned?: boolean;
  /** The tag. */
  tag: string;
}

/** The numbers of removed rows. */
export interface Removed {
  /** Their embeddings, of all models. */
  embeddings: number;
  /** Their jobs. */
  jobs: number;
  /** Nodes. */
  nodes: number;
  /** Assignments of tags to them. */
  tags: number;
}

/** The number of removed memories. */
export interface RemovedFromGroup {
  /** Memories that left the working memory. Long-term memory is unchanged. */
  removed: number;
}

/** The number of removed memories. */
export interface RemovedNodes {
  /** Memories that left the working memory. Long-term memory is unchanged. */
  removed: number;
}

/** A new name of a tag. */
export interface RenameTag extends Change {
  /** The tag. */
  tag: string;
  /** Its new name. */
  to: string;
}

/** A conversation to replace. */
export interface Replaced {
  /**
   * The memories that it has to have, in any order: with others it is 409 `revision_conflict`, and
   * nothing is done. None are expected of a new one. Default: any.
   */
  expected?: NodeId[] | null;
  /** Its namespace. Default: the server's. */
  namespace?: string | null;
  /** The conversation. */
  session: string;
}

/** The effect of a reset. */
export interface Reset {
  /** Jobs that are due again. */
  jobs: number;
}

/** The receipt of a restore. */
export interface Restored {
  /** Jobs enqueued for missing results. */
  jobs: number;
  /** The node. */
  node: NodeId;
}

/** The robot that restores. */
export interface Restoring {
  /** Whether a memory of any robot may be restored. */
  any_robot?: boolean;
  /** The namespace of the robot that restores. Default: the server's. */
  namespace?: string | null;
  /** The robot that restores: it may restore what it remembered. Default: the server's. */
  robot?: string | null;
}

/** The retention policy of a namespace. */
export interface Retention {
  /**
   * The age in seconds at which a memory is forgotten, counted from when it happened, was
   * remembered or was restored, whichever is latest. None: never.
   */
  forget_after_seconds?: number | null;
  /** The time in seconds from forgetting to deletion. None: never. */
  purge_after_seconds?: number | null;
}

/** The effect of a new policy at the next sweep. */
export interface RetentionPlan {
  /** Live memories that are too old. */
  to_forget: number;
  /** Memories that were forgotten too long ago. */
  to_purge: number;
}

/** The model to retire. */
export interface Retire {
  /** Whether its vectors are deleted too. */
  drop?: boolean;
  /** Its label. */
  label: string;
}

/** The effect of a retirement. */
export interface RetiredModel {
  /** Deleted jobs of the model. */
  deleted_jobs: number;
}

/** The result of a retry. */
export interface Retried {
  /** Jobs left as they are, because their node was forgotten or edited since. */
  outdated: number;
  /**
   * Of the jobs that are due again, those whose namespace has spent its budget for today: they are
   * parked again.
   */
  over_budget: number;
  /** Jobs that are due again. */
  retried: number;
}

/** The namespace whose ranking is reverted. */
export interface RevertBody {
  /** The namespace. Default: the server's. */
  namespace?: string | null;
}

/** A change to revert. */
export interface RevertChange extends Change {
  /** Its number in the log. */
  id: number;
}

/** A version of a node's text. */
export interface Revision {
  /** The robot that wrote it, by its name at that time. */
  author: string;
  /** The text. */
  content: string;
  /** Its number, from 1. */
  revision: number;
  /** When it was written. */
  written_at: string;
}

/** A change of a robot: its name, its metadata or its budget. */
export interface RobotChange {
  /** The token budget of its working memory. */
  max_tokens?: number | null;
  /** Entries of its metadata to set; null removes one. */
  metadata?: Record<string, unknown> | null;
  /** Its new name. */
  name?: string | null;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
}

/** A context made from a robot's working memory. */
export interface RobotContext extends Context {
  /**
   * Set if the database did not answer: the text may have nodes that were forgotten, edited or
   * superseded elsewhere.
   */
  unverified?: Unverified | null;
}

/** A robot: an agent that remembers. */
export type RobotId = number;

/** A registered robot. */
export interface RobotInfo {
  /** When it was registered. */
  created_at: string;
  /** Its number, which rows refer to. */
  id: RobotId;
  /** When it remembered or recalled last, to the minute. Saved in the background. */
  last_active?: string | null;
  /**
   * The token budget of its working memory; none: the default of the program that opens it
   * (`Settings::working_memory_tokens`).
   */
  max_tokens?: number | null;
  /** The metadata, a JSON object. */
  metadata: unknown;
  /** Its name, unique in its namespace. */
  name: string;
  /** Its namespace. */
  namespace: string;
  /** Its identity, independent of its name. */
  uuid: string;
}

/** A page of robots, by their namespaces and names. */
export interface RobotPage {
  /** The cursor of the next page; null: this is the last. */
  next?: string | null;
  robots: RobotStatistics[];
}

/** A robot with its statistics. */
export interface RobotStatistics extends RobotInfo {
  /** When its first live memory happened. */
  first_memory?: string | null;
  /** Its forgotten nodes. */
  forgotten: number;
  /** Its groups. */
  groups: string[];
  /** Live nodes in its saved working memory. */
  in_working_memory: number;
  /** When its last live memory happened. */
  last_memory?: string | null;
  /** Its live nodes. */
  nodes: number;
  /** Its repeats of existing memories. */
  repeats: number;
  /** Their tokens. */
  tokens: number;
  /** Their tokens. */
  working_memory_tokens: number;
}

/** The permissions of a key's holder. Each role has those of the roles before it. */
export type Role = "reader" | "writer" | "admin";

/** A part of the value that orders a hit. */
export interface ScorePart {
  /**
   * `vector` (the similarity, normalised and weighted), `words` (BM25, normalised and weighted,
   * corrected for length), `together` (adjacent words, as in the query), `exact` (exact terms as
   * written), `neighbours` (negative if they are below average), `speaker`, `time`. Of relevance,
   * its signals; of several lists, the share of each: a model, `query`, `phrasing 1`; of re-ranked
   * hits, `re-ranker`.
   */
  name: string;
  /** Its contribution. */
  score: number;
}

/**
 * The scores of a hit. Larger is better; ranks count from 1. A query that is only a time has none.
 */
export interface Scores {
  /**
   * Its relevance, 0 to 1, which orders the hits with boosted tags or requested weights; otherwise
   * none.
   */
  relevance?: number | null;
  /** The re-ranker's score, on its own scale, which orders the re-ranked hits. */
  reranked?: number | null;
  /**
   * The score, 0 to 1. The best hit has its similarity, its `text_share`, or both by the vectors'
   * weight. The scores of the other hits are in proportion to the values that order them, whose
   * parts are in `Explanation`. Of several models or phrasings, it is the best that a list gives
   * the hit.
   */
  score: number;
  /** Cosine similarity, -1 to 1; none while the node's embedding is pending. */
  similarity?: number | null;
  /**
   * Whether the similarity is that of a former text, because the node was edited and its new
   * embedding is pending.
   */
  stale: boolean;
  /** Its share of the boosted tags, 0 to 1; none without boosted tags. */
  tags?: number | null;
  /** BM25, from 0, including adjacent words and exact terms. */
  text?: number | null;
  /** Its rank among the text candidates. */
  text_rank?: number | null;
  /**
   * `text` as a share of the highest possible score for this query, 0 to 1: comparable between
   * queries.
   */
  text_share?: number | null;
  /** Its rank among the vector candidates. */
  vector_rank?: number | null;
}

/** Jobs, by their ids or by conditions. */
export interface SelectionBody {
  /** More than one job is cancelled only with it. */
  confirm?: boolean;
  /** A part of their last error, in upper or lower case. */
  error?: string | null;
  /** The jobs with these ids; the conditions must be empty then. */
  ids?: string[] | null;
  /** The namespace of their memories. */
  namespace?: string | null;
  /** Their memory. */
  node?: NodeId | null;
  /** The queue. */
  queue?: string | null;
  /** The state. */
  state?: JobState | null;
}

/** A run and its progress. */
export interface Shown extends BackfillRun {
  /** The jobs of the queue and the namespace, with those of earlier runs. */
  jobs: BackfillProgress;
}

/** The effect of a shutdown. */
export interface ShutDown {
  /** Memberships that ended. */
  members: number;
}

/** The fate of the working memory of a group that is shut down. */
export interface Shutdown {
  /** Whether its working memory is emptied. Long-term memory is unchanged. */
  clear?: boolean;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
}

/**
 * A sign that a memory of a recall was used, or was not. Beside feedback, signals are of the same
 * author, within half an hour after the recall.
 */
export type Signal = "read" | "edited" | "forgotten" | "cited";

/** A tag with a similar name. */
export interface SimilarTag {
  /** The trigram similarity, 0.3 to 1, of its name, its last level or a synonym. */
  similarity: number;
  /** The tag. */
  tag: string;
}

/** A split of a tag. */
export interface SplitTag extends Change {
  /** The tags in its place. A worker chooses for each memory. */
  into: TermBody[];
  /** The tag of memories that fit none of them. Default: they keep the tag. */
  leftover?: Leftover;
  /** The tag. */
  tag: string;
}

/** The stages of a node after its write. */
export type Stage = "embed" | "tag";

/** The state of a stage. */
export type StageState = {
  /** Attempts made. */
  attempts: number;
  /** When it is due. */
  due_at?: string | null;
  /** The error of the last attempt. */
  last_error?: string | null;
  /** Attempts allowed. */
  max_attempts: number;
  state: "pending";
} | {
  /** The error of the last attempt. */
  last_error?: string | null;
  state: "parked";
  /** When it becomes due by itself; far in the future for `age`. */
  until?: string | null;
  /** The reason. */
  why: ParkedFor;
} | {
  /** The number of the attempt, from 1. */
  attempt: number;
  state: "running";
  /** The worker's identity. */
  worker: string;
} | {
  /** Milliseconds from the write of the text. */
  after_ms: number;
  /** When it was done. */
  at: string;
  /** The number of the attempt. */
  attempt: number;
  /** The model. */
  model: string;
  /** The outcome, such as `embedded`, `embedded in 3 parts` or `3 tags`. */
  outcome: string;
  state: "done";
  /** The worker. */
  worker: string;
} | {
  /** Attempts made. */
  attempts: number;
  /** The error of the last attempt. */
  error: string;
  state: "dead";
} | {
  state: "awaited";
} | {
  state: "stranded";
};

/** A stage of a node. */
export type StageStatus = StageState & {
  /** The stage. */
  stage: Stage;
  /** The revision whose result is used until the edited text has its own. */
  stale?: number | null;
};

/** A step of a recall that may be missing. */
export type Step = "vector" | "rerank" | "expansion";

/** The disk space of the database. */
export interface Storage {
  /** The whole database, in bytes. */
  database_bytes: number;
  /** Their indexes, the largest first. */
  indexes: IndexSize[];
  /** The tables of HTM and of its jobs, the largest first. */
  tables: TableSize[];
}

/** A stage of a live node without a result, a job or a dead letter. */
export interface Stranded {
  /** The missing part. */
  lost: Loss;
  /** Its namespace. */
  namespace: string;
  /** The node. */
  node: NodeId;
  /** Its revision. */
  revision: number;
  /** The stage without a result. */
  stage: Stage;
}

/** The search strategy of a recall. */
export type Strategy = "vector" | "fulltext" | "hybrid" | "auto";

/** A memory that supersedes another one. */
export interface Successor {
  /** When it happened. */
  created_at: string;
  /** The first 100 characters of its text. */
  excerpt: string;
  /** When the relation was set. */
  made_at: string;
  /** Its id. */
  node: NodeId;
  /** The reason, if one was given. */
  reason?: string | null;
}

/** Two tags that may mean the same, with the evidence. */
export interface Suggestion {
  /** The tag with fewer nodes. */
  from: TagPath;
  /** Nodes of `from` and those below it. */
  from_nodes: number;
  /** The tag to keep. */
  into: TagPath;
  /** Nodes of `into` and those below it. */
  into_nodes: number;
  /** The cosine of their embeddings, from 0.85. */
  meaning?: number | null;
  /** The trigram similarity of their last levels, from 0.5. */
  name?: number | null;
  /** The share of common nodes, from 0.5. */
  nodes?: number | null;
}

/** A memory, and those that supersede it. */
export interface Superseded {
  /** The superseded memory. */
  node: NodeId;
  /** The memories that supersede it, the last set first. */
  superseded_by: Successor[];
}

/** The receipt of a sweep. */
export interface Swept {
  /** A row for each namespace with a change, in order. */
  namespaces: SweptNamespace[];
}

/** The receipt of a sweep for a namespace. */
export interface SweptNamespace {
  /** Memories that the retention policy has forgotten. */
  aged: number;
  /** Memories that had expired and are forgotten now. */
  expired: number;
  /** Embeddings and assignments of tags that are hidden with them, and deleted jobs. */
  forgotten: Removed;
  /** The namespace. */
  namespace: string;
  /** Rows that the retention policy has purged. */
  purged: Purged;
}

/** A synonym. */
export interface Synonym {
  /** The synonym. */
  name: string;
  /** The tag. */
  tag: string;
}

/** The disk space of a table. */
export interface TableSize {
  /** Bytes of its indexes. */
  index_bytes: number;
  /** Its name, with its schema. */
  name: string;
  /** The approximate number of rows, by the last ANALYZE; none before the first. */
  rows?: number | null;
  /** Bytes of the rows, including long values. */
  table_bytes: number;
}

/** A tag of a node, and who set it. */
export interface TagAssignment {
  /** When it was set. */
  assigned_at: string;
  /** The confidence, 0 to 1, if the origin tells one. */
  confidence?: number | null;
  /** The model; none for a manual assignment. */
  model?: string | null;
  /** The origin. */
  origin: TagOrigin;
  /** The version of its prompt or rules. */
  prompt_version?: string | null;
  /** The tag. */
  tag: TagPath;
}

/** The details of a tag. */
export interface TagDetails extends TagUse {
  /** The tags directly below it. */
  children: TagUse[];
  /** The newest nodes that have it or one below it. */
  newest: TaggedNode[];
  /** Its assignments by origin. */
  origins: OriginCount[];
  /** The tags above it, the root first. */
  parents: TagPath[];
  /** The tags beside it, below the same parent. */
  siblings: TagPath[];
  /** Its synonyms. */
  synonyms: string[];
}

/** The source of a tag's assignment to a node. */
export type TagOrigin = "manual" | "llm" | "local" | "rule";

/** A page of tags, by their paths. */
export interface TagPage {
  /** The cursor of the next page; null: this is the last. */
  next?: string | null;
  tags: TagUse[];
}

/** Two tags that are marked as distinct, or no longer. */
export interface TagPair extends Change {
  /** The other one. */
  other: string;
  /** One of them. */
  tag: string;
}

/**
 * A tag's path: 1 to 5 levels joined by `:`, each of `a-z`, `0-9` and `-`, none empty, at most 255
 * bytes in all.
 *
 * Parsing accepts only the stored form (`tags_path_valid` is the same rule as a CHECK constraint).
 * `TagPath::normalise` converts what people and models write to that form.
 *
 * ``` use htm_core::tag::TagPath; let tag: TagPath = "database:postgresql".parse().unwrap();
 * assert_eq!(tag.depth(), 2); assert!("Database".parse::<TagPath>().is_err());
 * assert_eq!(TagPath::normalise("Databases: PostgreSQL").unwrap(), tag); ```
 */
export type TagPath = string;

/** A tag with its counts. */
export interface TagUse {
  /** When it was registered. */
  created_at: string;
  /** Its description. */
  description?: string | null;
  /** Tags declared distinct from it. A pair is on one of its tags. */
  distinct_from: string[];
  /** When it was assigned last. */
  last_used?: string | null;
  /** Live nodes that have it. */
  nodes: number;
  /** The tags that replace it after a split. */
  split_into: string[];
  /** The tag. */
  tag: TagPath;
  /** Live nodes that have it or one below it, each counted once. */
  total: number;
}

/** A node that has a tag. */
export interface TaggedNode {
  /** Its text. */
  content: string;
  /** The node. */
  node: NodeId;
}

/** A page of a tag's memories, the newest first. */
export interface TaggedNodes {
  /** The cursor of the next page; null: this is the last. */
  next?: NodeId | null;
  nodes: TaggedNode[];
}

/** A tag. */
export interface TermBody {
  /** Its description. Not given: it stays; empty: it is removed. */
  description?: string | null;
  /** Its synonyms. */
  synonyms?: string[];
  /** The tag, in any spelling. */
  tag: string;
}

/** The number of memories in one step of time. */
export interface TimeCount {
  /** The memories. */
  memories: number;
  /** The robot or the tag; none: not divided. */
  name?: string | null;
  /** The start of the step. */
  start: string;
}

/** A time phrase that was taken from a query's text. */
export interface TimePhrase {
  /** The phrase. */
  phrase: string;
  /** The query without it; empty if the query was only a time. */
  query: string;
}

/**
 * A range from an instant (inclusive) until another one (exclusive). A side that is none is open.
 * Never empty.
 */
export interface TimeRange {
  from?: string | null;
  until?: string | null;
}

/** The steps of a count over time, in UTC. */
export type TimeStep = "year" | "month" | "week" | "day" | "hour" | "minute";

/** Memories in chronological order. */
export interface Timeline {
  /** As `Recalled::as_of`. */
  as_of?: AsOf | null;
  /** As `Recalled::corrected`; empty without a topic. */
  corrected: Correction[];
  /** As `Recalled::degraded`; empty without a topic. */
  degraded: Degraded[];
  /** The memories, the earliest first; those of one instant by session and position. */
  entries: TimelineEntry[];
  /** As `Recalled::instead_of`. */
  instead_of?: string | null;
  /** As `Recalled::models`; empty without a topic. */
  models: string[];
  /** As `Recalled::relaxed`. */
  relaxed: boolean;
  /** The time phrase that was taken from the topic, if any. */
  time_phrase?: TimePhrase | null;
  /** The resolved timeframe. */
  timeframe: TimeRange[];
}

/** The memories, in chronological order. */
export interface TimelineAnswer extends Timeline {
  /** The names in the filter that nothing has. */
  unknown_names: UnknownName[];
}

/** The query of a timeline. */
export interface TimelineBody {
  /** As the memory stood at this time: a date, an RFC 3339 time, or words. Default: now. */
  as_of?: string | null;
  /** Whether unknown words of the topic are spell-corrected. Default: true. */
  correct?: boolean | null;
  /** The memories of the timeline. */
  filter?: FilterBody;
  /**
   * The most memories, 1 to 10,000: the most relevant to the topic, or the latest without one.
   * Default: 20.
   */
  limit?: number | null;
  /** How the topic is searched. Default: hybrid. */
  strategy?: Strategy | null;
  /** The topic. Default: everything. */
  topic?: string | null;
}

/** A memory of a timeline. */
export interface TimelineEntry extends Node {
  /** Its score for the topic. Larger is better; none without a topic. */
  score?: number | null;
}

/** The tokens of the memories of a namespace that a model has processed last on one day. */
export interface TokenUsage {
  /** The day (UTC). */
  day: string;
  /**
   * The memories whose last result is of that day. One that was purged or erased since is not
   * counted.
   */
  jobs: number;
  /** The model's label. */
  model: string;
  /** The namespace. */
  namespace: string;
  /** The stage of the calls. */
  stage: Stage;
  /**
   * The tokens of their memories' texts, as budgets count them. Prompts and answers are not
   * counted.
   */
  tokens: number;
}

/** Sums over the nodes. */
export interface Totals {
  /** Forgotten nodes. */
  forgotten: number;
  /** When the last live memory happened. */
  newest?: string | null;
  /** Live nodes. */
  nodes: number;
  /** When the first live memory happened. */
  oldest?: string | null;
  /** Their tokens. */
  tokens: number;
}

/** The target of memories of a group's working memory. */
export interface Transfer {
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** These memories. Default: all. */
  nodes?: NodeId[] | null;
  /** To the working memory of this group, */
  to_group?: string | null;
  /** or to that of this robot. */
  to_robot?: string | null;
}

/** The target of memories of a member's group. */
export interface TransferByMember {
  /** The membership. */
  membership: MembershipId;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** These memories. Default: all. */
  nodes?: NodeId[] | null;
  /** To the working memory of this group, */
  to_group?: string | null;
  /** or to that of this robot. */
  to_robot?: string | null;
}

/** The receipt of a transfer. */
export interface TransferReceipt {
  /** Nodes evicted from the target. */
  evicted: NodeId[];
  /** The moved nodes. */
  transferred: NodeId[];
}

/** A ranking that is tried on live recalls. */
export interface Trial {
  /** The way. */
  kind: TrialKind;
  /** The version. */
  version: number;
}

/** How a ranking is tried on live recalls. */
export type TrialKind = "shadow" | "interleaved";

/** The version to try on live recalls. */
export interface TryBody {
  /** The way. Default: shadow. */
  kind?: TrialKind | null;
  /** The namespace. Default: the server's. */
  namespace?: string | null;
  /** The version; null ends the trial. */
  version?: number | null;
}

/** A name in a filter that nothing has. */
export interface UnknownName {
  /** The kind of thing that the name was expected to be of. */
  kind: NameKind;
  /** The name. */
  name: string;
  /**
   * Similar names that there are, the nearest first; of several namespaces, those of one after
   * those of another.
   */
  nearest: string[];
}

/** The result of unloading documents. */
export interface UnloadedDocuments {
  /** The paths of the documents. */
  documents: string[];
  /** Their passages that were forgotten. */
  forgotten: number;
}

/** The reason why a context could not be compared with long-term memory. */
export interface Unverified {
  /** The stable code of the reason. */
  code: string;
  /** The reason, for people. */
  reason: string;
}

/** How the space of removed rows was freed. */
export interface Vacuumed {
  /** When. */
  at: string;
  /** The tables that the program's role may not vacuum. Autovacuum does it later. */
  not_permitted: string[];
  /**
   * The older transactions that were open: vacuum frees nothing that one of them may still read.
   * Null: the program's role cannot see those of other roles.
   */
  older_transactions?: number | null;
  /** The vacuumed tables. */
  tables: string[];
}

/** The kind of the index of a model's vectors. */
export type VectorIndex = "hnsw" | "hnsw_binary" | "diskann" | "vchordrq" | "none";

/** The kind of a vector search. */
export type VectorSearch = "exact" | "approximate";

/** The receipt of a vector that was brought later. */
export interface VectorSet {
  /** The label of the model. */
  model: string;
  /** The node. */
  node: NodeId;
  /** The revision of its text. */
  revision: number;
}

/** The result of a search for traces of an erasure. */
export interface Verification {
  /** The receipt. */
  erasure: Erasure;
  /**
   * Whether that is after the erasure: a crash of the server would not read the erased rows again.
   */
  is_behind_checkpoint: boolean;
  /** Whether nothing was found, in places that are all known and could be looked at. */
  is_clean: boolean;
  /** Every table of the database's schemas `htm` and `apalis`. */
  places: PlaceFound[];
  /** Where recovery after a crash would begin to read the write-ahead log. */
  redo_position: string;
  /** The first rows of other memories with the given text, 20 at most. */
  with_text: MemoryWithText[];
}

/** A text to look for besides the numbers of the erased memories. */
export interface Verifying {
  /**
   * A text, looked for in every column of every table. It is kept nowhere. Only with a key for all
   * namespaces.
   */
  text?: string | null;
}

/** A worker process of a queue. */
export interface Worker {
  /** Whether that is within its lease. */
  alive: boolean;
  /** Its program, version and model. */
  detail: string;
  /** Its identity. */
  id: string;
  /** The number of jobs that it holds. */
  jobs: number;
  /** Its last heartbeat. */
  last_seen: string;
  /** The queue it serves. */
  queue: string;
  /** The time of its registration. */
  started_at?: string | null;
  /** The time since then, in milliseconds. */
  unseen_ms: number;
}

/** A working memory. */
export interface Working {
  /** Its memories, the first to be evicted first. */
  nodes: Entry[];
  /** Its use. */
  stats: WorkingMemoryStats;
}

/** The utilisation of a working memory. */
export interface WorkingMemoryStats {
  /** The token budget. */
  max_tokens: number;
  /** Nodes in it. */
  nodes: number;
  /** Their tokens. */
  tokens: number;
  /** The used share of the budget, 0 to 1. */
  utilisation: number;
}

/** The utilisation of a robot's working memory. */
export interface WorkingMemoryUse {
  /** Its token budget: the robot's own, otherwise the handle's. */
  max_tokens: number;
  /** The robot's namespace. */
  namespace: string;
  /** Live nodes in it. */
  nodes: number;
  /** Its name. */
  robot: string;
  /** Their tokens. */
  tokens: number;
  /** The used share of the budget, 0 to 1; more if the budget was lowered. */
  utilisation: number;
}

/** The result of a dry run. */
export interface WouldEnqueue {
  /** Jobs that would be enqueued now. */
  would_enqueue: number;
}

/** The receipt of a write. */
export interface Written extends Receipt {
  /** The state of its stages, if the request waited for them. */
  status?: NodeStatus | null;
}
