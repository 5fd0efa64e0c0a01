//! The codes of the library, each with its fault, its meaning and the next step.

use super::Code;
use crate::model::fault::Fault;

error_codes! {
    // Writes
    CONTENT_EMPTY "content_empty" User "A text is empty or only white space."
        => "give a text with at least one character that is not white space";
    CONTENT_TOO_LARGE "content_too_large" User "A text has more bytes than a node may hold."
        => "split the text and remember its parts";
    NUL_BYTE "nul_byte" User "A text has a NUL byte."
        => "remove the NUL byte; PostgreSQL's text cannot hold one";
    FIELD_TOO_LONG "field_too_long" User "A field, a query or the metadata has more bytes than it may."
        => "shorten it; long texts belong into the content or the metadata";
    METADATA_TOO_DEEP "metadata_too_deep" User "The metadata has too many levels of lists and objects."
        => "give fewer levels, or the inner ones as text";
    METADATA_NUMBER "metadata_number_out_of_range" User "The metadata has a number outside of -1e308 to 1e308."
        => "give a number from -1e308 to 1e308, or the number as text";
    IMPORTANCE_OUT_OF_RANGE "importance_out_of_range" User "An importance is outside 1 to 10."
        => "1–3 is transient, 7–10 a decision or a preference; default 1";
    EXPIRY_OUT_OF_RANGE "expiry_out_of_range" User "The time to live of a memory or a key, or a retention time, is too short or too long."
        => "give 1 second to 100 years";
    EXPIRY_PASSED "expiry_passed" User "An expiry has passed: the memory would be forgotten at once."
        => "give a future time, or a time to live; the database's clock counts";
    NAMESPACE_INVALID "namespace_invalid" User "A namespace's name is empty, too long or has a control character."
        => "use a short name without control characters";
    ROBOT_INVALID "robot_invalid" User "A robot's name is empty, too long or has a control character."
        => "use a short name without control characters";
    GROUP_INVALID "group_invalid" User "A group's name is empty, too long or has a control character."
        => "use a short name without control characters";
    KEY_INVALID "key_invalid" User "A key is empty, too long or has a control character."
        => "use a short name without control characters";
    TIME_OUT_OF_RANGE "time_out_of_range" User "A time is outside of the years 1 to 9999."
        => "give a time of these years; it counts in UTC";
    LANGUAGE_UNKNOWN "language_unknown" User "PostgreSQL has no text search configuration of this name."
        => "use `simple`, or one that `select cfgname from pg_ts_config` lists";
    KEY_TAKEN "key_taken" User "The key names another node."
        => "use another key, or read the node that has it: `Htm::get`";
    CONTENT_TAKEN "content_taken" User "Another node has this content already, and duplicates are not allowed there."
        => "use the node that has it, or forget one of the two: `Htm::get`, `Htm::forget`";
    CONTENDED "contended" Transient "Others changed the same rows at the same moment. Nothing was written. Only an erasure keeps what it has removed: resume it."
        => "make the same call again";
    NOT_WRITTEN "not_written" Transient "The database failed before this one of many memories was written."
        => "write the memories without a receipt again";
    LINE_INVALID "line_invalid" User "A line of a file is not in the expected format."
        => "fix the line named in the message";
    LINE_TOO_LONG "line_too_long" User "A line of a file is longer than any memory."
        => "split the text of the line named in the message";
    EXPORT_FORBIDDEN "export_forbidden" User "A line of an export was given where only plain memories may be imported."
        => "import it with a handle that is not restricted to a robot, or as an admin";
    EXPORT_VERSION "export_version" User "The file is an export of another format, or of a later version than this program reads."
        => "export it with this version, or upgrade this program";
    EXPORT_INCOMPLETE "export_incomplete" User "An export has no end line, or other line counts than it says. Or an export or import was continued after an error."
        => "import the whole file: its last line is of the kind `end`; what was imported stays";
    VECTOR_UNFIT "vector_unfit" User "A vector has another length than its model has, a number that cannot be stored, only zeros, or no model that takes it."
        => "give a vector of the model's dimensions, or none; in an export, leave `vectors` out of the line";
    NAMESPACE_FORBIDDEN "namespace_forbidden" User "The handle does not see the namespace."
        => "name a namespace that the handle sees: `Htm::namespaces`";
    ROBOT_FORBIDDEN "robot_forbidden" User "The handle acts as another robot."
        => "act as the robot of the handle: `Htm::bound_robot`";
    QUOTA_EXCEEDED "quota_exceeded" User "The quota of the namespace has no room."
        => "forget memories, or raise the quota: `Htm::set_quota`";
    API_KEY_INVALID "api_key_invalid" User "A key of the API is not one that was created here."
        => "check the key; a new one: `Htm::create_api_key`";
    API_KEY_EXPIRED "api_key_expired" User "A key of the API has expired."
        => "create a new one: `Htm::create_api_key`";
    API_KEY_REVOKED "api_key_revoked" User "A key of the API was revoked."
        => "ask an administrator, or create a new one: `Htm::create_api_key`";
    API_KEY_UNKNOWN "api_key_unknown" User "There is no key of the API with this id."
        => "list the keys: `Htm::api_keys`";
    SIGNED_OUT "signed_out" User "A sign-in has ended, or its key was revoked or has expired."
        => "sign in again: `Htm::sign_in`";
    NO_RANDOMNESS "no_randomness" Bug "The operating system gave no random bytes."
        => "check the system's source of random numbers";
    OPERATION_INVALID "operation_invalid" User "An operation's id is empty, too long or has other than visible ASCII characters."
        => "use a UUID";
    OPERATION_DIFFERS "operation_differs" User "An operation's id was used for another request."
        => "use a new id for a new request, and the same one only to send the same request again";
    OPERATION_OPEN "operation_open" Transient "Another call has begun the operation and has not ended it."
        => "make the same call again in a moment";
    OPERATION_ERASED "operation_erased" User "An operation was done before, and a memory of it was erased since."
        => "it is not done again; to remember the memory again, use a new id";
    TOO_MANY_NAMESPACES "too_many_namespaces" User "The memories have tags of too many namespaces for one transaction."
        => "send the memories of each namespace apart";

    // Nodes
    NODE_NOT_FOUND "node_not_found" User "There is no such node, or it was forgotten."
        => "look for it: `Htm::recall`; a forgotten one comes back by `Htm::restore`";
    NOT_OWNER "not_owner" User "Another robot remembered the node first."
        => "ask as the robot that remembered it, or for any robot: `Caller::Robot`, `Caller::AnyRobot`";
    REMEMBERED_BY_OTHERS "remembered_by_others" User "Other robots remembered the node too."
        => "forget it for all robots that remembered it: `Caller::AnyRobot`";
    REVISION_CONFLICT "revision_conflict" User "The node was edited since it was read."
        => "read it again (`Htm::get`), then edit what it says now";
    RELATION_INVALID "relation_invalid" User "A relation is of an unknown kind, of a memory to itself, between two namespaces, or has an empty reason."
        => "name two memories of one namespace, and the kind `supersedes` or `contradicts`";
    RELATION_CYCLE "relation_cycle" User "A relation would close a circle with another robot's, or that of an import with one here."
        => "ask for any robot, which removes the other relation: `Caller::AnyRobot`; before an import, `Htm::unrelate`";
    RELATION_UNKNOWN "relation_unknown" User "There is no such relation between the two memories."
        => "list the relations of a memory: `Htm::related`";
    RECALL_UNKNOWN "recall_unknown" User "No recall of this id is kept."
        => "give the recall_id of a recall; recalls are kept where learning is on (`Htm::set_learning`), and for a day until they are judged";
    FEEDBACK_INVALID "feedback_invalid" User "A feedback names no memory, too many, one of them twice, or no hit of the last recall."
        => "name 1 to 100 memories, each as used or as useless";
    FEEDBACK_EXCEEDED "feedback_exceeded" User "An author has judged the most recalls allowed in a day."
        => "go on tomorrow; the limit keeps one author from deciding what is learnt";
    LEARNING_INVALID "learning_invalid" User "A setting of learning is outside its range, or unknown."
        => "give 1 to 3,650 days, at least 20 judged recalls, and the signals read, edited, forgotten or cited";
    RANKING_UNKNOWN "ranking_unknown" User "The namespace has no learnt ranking of this version."
        => "list its rankings: `Htm::rankings`";
    RANKING_UNUSABLE "ranking_unusable" User "The ranking cannot be used by this program."
        => "learn it again with this program, or use another version: `Htm::rankings`";
    NOT_FORGOTTEN "not_forgotten" User "The node to restore is not forgotten."
        => "nothing is left to do";
    NOT_CONFIRMED "not_confirmed" User "An act that removes something was not confirmed."
        => "confirm it: `Confirmation::Confirmed`";
    NOTHING_TO_ERASE "nothing_to_erase" User "An erasure selects no memory."
        => "name memories, a text that some contain, a robot with memories, or a namespace";
    PLAN_MISSING "plan_missing" User "Forgetting or erasing nodes by their text needs a plan."
        => "make the plan and check it, then give it: `Htm::plan_erase`, `Htm::plan_forget`";
    ERASE_PLAN_CHANGED "erase_plan_changed" User "The memories to erase have changed since the plan was made."
        => "make the plan again and check it: `Htm::plan_erase`";
    ERASURE_UNKNOWN "erasure_unknown" User "There is no erasure of this number, or the handle does not see it."
        => "list them: `Htm::erasures`";
    ERASED_MEANWHILE "erased_meanwhile" Transient "Memories were erased while they were exported."
        => "delete what was exported, and export again";
    TIME_IN_FUTURE "time_in_future" User "A time is in the future, where only the past makes sense."
        => "give a time that has passed; the database's clock counts";
    WAIT_TIMEOUT "wait_timeout" Transient "A stage of a node was not done within the time given."
        => "check that a worker of this stage runs: `Jobs::workers`";
    BACKFILL_UNKNOWN "backfill_unknown" User "There is no backfill of this number, or the handle does not see it."
        => "list them: `Htm::backfills`";
    STAGE_DEAD "stage_dead" Permanent "The job of a stage is a dead letter."
        => "see why (`Htm::status`), mend the cause, and retry it: `Jobs::retry`";

    // Files
    FILE_PATH_INVALID "file_path_invalid" User "A path is not one below /memories, or the command cannot be applied to it."
        => "give a path such as /memories/notes.md: at most 512 bytes, no `..`, no control characters";
    FILE_NOT_FOUND "file_not_found" User "There is no file or directory at the path."
        => "view /memories for the paths that there are; a deleted file is a forgotten memory, which can be restored";
    FILE_EXISTS "file_exists" User "There is a file or directory at the path, or a file at a path above it."
        => "edit what is there, or give another path";
    FILE_IS_DIRECTORY "file_is_directory" User "A command that edits a file names a directory."
        => "view the directory, and name a file in it";
    FILE_EDIT_UNFIT "file_edit_unfit" User "The text to replace does not occur in the file exactly once."
        => "view the file, and give the text exactly as it is there, with enough around it to be unique";
    FILE_LINE_INVALID "file_line_invalid" User "A line number or a range of lines does not fit the file."
        => "view the file without a range for its line numbers";
    FILE_TOO_MANY_LINES "file_too_many_lines" User "A file has more lines than can be numbered."
        => "read the text of its memory: `Htm::get_by_key`";

    // Documents
    DOCUMENT_PATH_INVALID "document_path_invalid" User "A document's path is empty, too long or has a control character."
        => "give a path of at most 512 bytes on one line";
    DOCUMENT_NOT_FOUND "document_not_found" User "The namespace has no document with this path."
        => "list the documents: `Htm::documents`";
    DOCUMENT_SIZE "document_size" User "A document has no passage, or more than it may have."
        => "split the file, or cut it into larger passages";

    // Recall
    STRATEGY_UNKNOWN "strategy_unknown" User "There is no recall strategy of this name."
        => "use one of: vector, fulltext, hybrid, auto";
    CONTEXT_ORDER_UNKNOWN "context_order_unknown" User "There is no order of a context of this name."
        => "use one of: recent, important, frequent, balanced";
    LIMIT_OUT_OF_RANGE "limit_out_of_range" User "A limit is outside its range."
        => "give a number of the range that the error names";
    ANSWER_TOO_LARGE "answer_too_large" User "A list of memories in an answer has more than 64 MiB."
        => "ask for fewer: lower the limit or the number of neighbours, and read the rest by the next page or another filter";
    MIN_SIMILARITY_OUT_OF_RANGE "min_similarity_out_of_range" User "The least similarity is outside 0 to 1."
        => "give a number from 0 to 1, as 0.7; leave it out for no threshold";
    DIVERSITY_OUT_OF_RANGE "diversity_out_of_range" User "Diversity is outside 0 to 1."
        => "give a number from 0 (only the score) to 1 (only novelty), as 0.3";
    QUERY_ONLY_NEGATIONS "query_only_negations" User "The query names only words that hits must not contain."
        => "add a word that hits should have, as in `postgres -mysql`, or quote what begins with a dash";
    RELEVANCE_WEIGHTS_INVALID "relevance_weights_invalid" User "The weights of relevance are not 1 together, or one is below 0."
        => "give similarity, text, importance, tags, recency and access, none below 0 and 1 together";
    ORDER_BY_INVALID "order_by_invalid" User "A text does not name weights of relevance."
        => "write `similarity,recency` (the same weight each), `similarity=0.7,recency=0.3`, or `relevance`";
    TIMEFRAME_INVALID "timeframe_invalid" User "A text is not a timeframe."
        => "give a day (2026-03-01, 3 March 2026), a range (2026-03-01..2026-04-01, either side may be left out), several \
            (A, B or C), or words: today, yesterday, tomorrow, tonight, last night, this morning, last week, this month, \
            next year, last weekend, weekend before last, Monday, last Friday, in March, Q1 2026, last quarter, \
            last 3 days, past 2 hours, last 24h, 5 minutes ago, a few weeks ago, recently, since A, before A, after A, between A and B, from A to B";
    TIMEFRAME_REVERSED "timeframe_reversed" User "A timeframe ends before it starts, or at its start."
        => "swap its start and its end; the end is exclusive";
    TIME_WITHOUT_BEGINNING "time_without_beginning" User "A time has no beginning, so it is no point in time."
        => "use a time that has one, such as 2026-03-01, yesterday or 2 hours ago";
    ZONE_UNKNOWN "zone_unknown" User "There is no time zone of this name."
        => "use a name as Europe/Berlin or America/New_York, UTC, or system";
    CURSOR_INVALID "cursor_invalid" User "A text is not the cursor of a page."
        => "give the cursor that the page before has, or none for the first page";
    GROUPING_UNKNOWN "grouping_unknown" User "The grouping of a timeline is unknown."
        => "use one of: day, session";
    EMBEDDER_MISSING "embedder_missing" Permanent "Strategy `vector` needs an embedding provider, and the handle has none."
        => "make the handle with `Htm::with_embedders`, or recall with strategy `fulltext`";
    EMBEDDER_OTHER "embedder_other" Permanent "The program has no embedder for the model that recall uses."
        => "give the program its embedder, or activate a model that it has: `Models::activate`";
    RERANKER_MISSING "reranker_missing" Permanent "Re-ranking was asked for, and the handle has no re-ranker."
        => "make the handle with `Htm::with_reranker`, or recall without it";
    EXPANDER_MISSING "expander_missing" Permanent "Query expansion was asked for, and the handle has no language model for it."
        => "make the handle with `Htm::with_expander`, or recall without it";

    // Working memory
    NODE_OVERSIZED "node_oversized" User "A node alone has more tokens than the working memory holds."
        => "it stays in long-term memory; raise the budget, or split the text";
    ENCODING_UNKNOWN "encoding_unknown" User "There is no token encoding of this name."
        => "use one of: o200k_base, cl100k_base, estimate";
    BUDGET_OUT_OF_RANGE "budget_out_of_range" User "A budget in tokens is outside its range."
        => "give a number of tokens from 1 to 1000000000";

    // Robots and groups
    ROBOT_UNKNOWN "robot_unknown" User "The namespace has no robot of this name."
        => "list them: `Htm::robots`; a robot belongs to one namespace";
    ROBOT_TAKEN "robot_taken" User "The namespace has a robot of this name already."
        => "use another name, or merge them: `Htm::merge_robots`";
    MERGE_INTO_ITSELF "merge_into_itself" User "A robot cannot be merged into itself."
        => "name another robot as the one that stays";
    NOTHING_TO_MERGE "nothing_to_merge" User "No robot or tag to merge was named."
        => "name at least one that is to go";
    GROUP_UNKNOWN "group_unknown" User "The namespace has no group of this name."
        => "list them: `Htm::groups`; the first to join makes one: `Group::join`";
    GROUP_MEMBER_UNKNOWN "group_member_unknown" User "The robot is no member of the group."
        => "see its members: `Group::info`";
    GROUP_MEMBER_PASSIVE "group_member_passive" User "The robot is a passive member of the group: it does not write."
        => "let an active member write, or make this one active: `Group::promote`";
    GROUP_MEMBER_REPLACED "group_member_replaced" Permanent "Another member took over, another process speaks for this robot now, or the robot was merged."
        => "nothing of this write was kept; join again to go on, passive as long as another member is active";
    GROUP_MEMBER_LOST "group_member_lost" Transient "The member was not seen for its lease."
        => "start its process again, and let it join: `Group::join`";
    GROUP_LAST_ACTIVE "group_last_active" User "The only active member has no passive one to take over."
        => "let another robot join first, or shut the group down: `Group::shutdown`";
    GROUP_CLOSED "group_closed" User "The group was shut down."
        => "join it, which opens it again: `Group::join`";
    GROUP_ELSEWHERE "group_elsewhere" User "The memory and the group are of different namespaces."
        => "remember it in the group's namespace, or without one";
    GROUP_TRANSFER_TO_ITSELF "group_transfer_to_itself" User "A group cannot be transferred to itself."
        => "name another group, or a robot";
    GROUP_SETTING_OUT_OF_RANGE "group_setting_out_of_range" User "A setting of a membership is outside its range."
        => "give a value within the range";

    // Tags and the ontology
    TAG_INVALID "tag_invalid" User "A text is not a tag."
        => "write it like `database:postgresql:indexes`: a-z, 0-9 and -, at most 5 levels";
    TOO_MANY_TAGS "too_many_tags" User "More tags were given at once than are allowed."
        => "give fewer tags: the tag-worker adds more by itself";
    NAMESPACE_FULL "namespace_full" User "The namespace has as many tags as it may."
        => "give existing tags, remove or merge unused ones (`Ontology::orphans`), or raise `TagLimits::namespace`";
    TAG_UNKNOWN "tag_unknown" User "The namespace has no such tag."
        => "list them: `Ontology::list`; a tag belongs to one namespace";
    TAG_TAKEN "tag_taken" User "The new name is a tag already."
        => "merge them: `Ontology::merge`";
    TAG_INTO_ITSELF "tag_into_itself" User "A tag cannot be renamed, merged or split into itself."
        => "name another tag; one may be written in several ways";
    TAG_INTO_OWN_CHILD "tag_into_own_child" User "A tag cannot be moved below itself."
        => "to make several tags of it: `Ontology::split`";
    TAG_UNMOVABLE "tag_unmovable" User "A change would give a tag a name that breaks a rule."
        => "move or shorten the tags below it first";
    TAG_IN_USE "tag_in_use" User "Nodes have the tag that was to be removed, or one below it."
        => "merge it into another (`Ontology::merge`), or take it from them: `Removal::Assigned`";
    TAG_IS_SYNONYM "tag_is_synonym" User "The name is a synonym of a tag."
        => "use that tag, or free the name: `Ontology::remove_synonym`";
    SYNONYM_IS_TAG "synonym_is_tag" User "The synonym is already a tag, or a parent of tags."
        => "merge them: `Ontology::merge`";
    SYNONYM_UNKNOWN "synonym_unknown" User "No tag of the namespace has this synonym."
        => "list them: `Ontology::synonyms`";
    NOTHING_TO_SPLIT "nothing_to_split" User "A tag is split into at least two tags."
        => "name two tags or more; to replace it by one, rename or merge it";
    DESCRIPTION_TOO_LONG "description_too_long" User "A tag's description has more bytes than it may."
        => "describe the tag in a sentence or two";
    ONTOLOGY_VERSION "ontology_version" User "The ontology document has another version than this program reads."
        => "export it with this version, or upgrade this program";
    TAG_TWICE "tag_twice" User "A tag occurs twice in an ontology document."
        => "take one of the two out; nothing was imported";
    CHANGE_UNKNOWN "change_unknown" User "The namespace's log has no change of this number."
        => "list them: `Ontology::log`";
    CHANGE_REVERTED "change_reverted" User "The change was reverted before."
        => "to do it again, revert the change that reverted it: `Ontology::revert`";
    CHANGED_SINCE "changed_since" User "A later change altered the same name."
        => "revert the later change first: `Ontology::revert`";

    // Jobs and providers
    JOB_NOT_FOUND "job_not_found" User "There is no such job, or its row was pruned."
        => "list them: `Jobs::list`";
    JOB_STATE_UNFIT "job_state_unfit" User "The job's state does not allow this action."
        => "see its state: `Jobs::show`";
    QUEUE_UNKNOWN "queue_unknown" User "There is no queue of this name."
        => "if none is registered, start an embed-worker";
    PROVIDER_UNKNOWN "provider_unknown" User "Nothing is known of this provider or of its model."
        => "see the providers with limits or failures: `Providers::list`";
    PROVIDER_UNREACHABLE "provider_unreachable" Transient "A provider cannot be connected to, or the connection broke."
        => "check that the provider runs at its base URL";
    PROVIDER_TIMEOUT "provider_timeout" Transient "A provider did not answer within its deadline."
        => "raise the provider's timeout_ms, or lower the worker's batch";
    PROVIDER_RATE_LIMITED "provider_rate_limited" Transient "A provider limits the rate of requests (429, or 503 with `Retry-After`)."
        => "wait; a job comes back by itself, and a recall may be asked again";
    PROVIDER_SERVER_ERROR "provider_server_error" Transient "A provider is in trouble (a 5xx answer)."
        => "look at the provider's own log; a job is retried by itself, and a recall may be asked again";
    PROVIDER_REFUSED_TEXT "provider_refused_text" User "A provider refused a text (400, 413, 422)."
        => "shorten or mend the text: the provider refuses it as it is";
    PROVIDER_REFUSED_ALL "provider_refused_all" Permanent "A provider refuses every text (400, 413, 422), even a harmless one."
        => "correct what the provider's message names, such as the dimensions or the model";
    PROVIDER_UNAUTHORIZED "provider_unauthorized" Permanent "A provider refused the key (401, 403)."
        => "give the provider a valid key";
    PROVIDER_QUOTA_EXCEEDED "provider_quota_exceeded" Permanent "The account's quota at the provider is spent."
        => "raise the quota at the provider";
    PROVIDER_MODEL_NOT_FOUND "provider_model_not_found" Permanent "The provider has no such model (404)."
        => "check the model's name, and that the base URL is that of a server with this model";
    PROVIDER_OTHER_DIMENSIONS "provider_other_dimensions" Permanent "A provider's vectors have another length than those of the model in the database."
        => "let the provider serve the registered model, or ask for the new number of dimensions: that is another model";
    PROVIDER_BAD_RESPONSE "provider_bad_response" Transient "A provider's answer breaks the contract."
        => "check that the base URL is the provider's API, not a page or another service";
    PROVIDER_UNUSABLE_ANSWER "provider_unusable_answer" User "A language model gave an answer that cannot be used, twice."
        => "read the answer with its job (`Jobs::show`); a larger model may do better";

    // Embedding models
    MODEL_UNKNOWN "model_unknown" User "No embedding model of this label is registered."
        => "if none is registered, start an embed-worker, or add one: `Models::add`";
    MODEL_NOT_READY "model_not_ready" Transient "Nothing is embedded with the configured model yet."
        => "start an embed-worker with this configuration";
    MODEL_RETIRED "model_retired" User "The embedding model is retired."
        => "take it into use again: `Models::add`";
    VECTOR_INDEX_UNAVAILABLE "vector_index_unavailable" User "The database lacks the extension of the wanted kind of vector index."
        => "install the extension, and create it in the database; or use another kind";
    MODEL_ACTIVE "model_active" User "The embedding model is the active one, and cannot be retired."
        => "activate another one first: `Models::activate`";
    MODEL_INCOMPLETE "model_incomplete" Transient "Vector search would no longer find some nodes if the model were activated."
        => "wait for its queue, and retry its dead letters; or go without those nodes: `Models::activate` with `forced`";
    MODEL_OF_CALLERS "model_of_callers" User "The vectors of the embedding model come from callers: HTM computes none."
        => "give the vector: with the memory, later (`Htm::set_vector`), or with the query";
    WRITER_OPEN "writer_open" Transient "A transaction that remembered something is open for too long."
        => "let the application commit or end its transaction, then make the call again";
    VERSION_UNFIT "version_unfit" User "A prompt's version was named for a stage without a prompt."
        => "leave it out; to embed everything again, ask for all: `BackfillRequest::forced`";

    // The database
    DATABASE_UNREACHABLE "database_unreachable" Transient "The database cannot be reached."
        => "check the database's URL, and that the server runs";
    HANDLE_CLOSED "handle_closed" User "The handle was closed, or its pool was."
        => "open the database again, and close it after the last call";
    DATABASE_NO_PRIMARY "database_no_primary" Transient "None of the hosts in the database's URL is a primary."
        => "promote one of them, or check the hosts in the URL";
    DATABASE_EXHAUSTED "database_exhausted" Transient "The database has run out of disk, memory or files."
        => "free disk space or memory on the database's server, then do it again; workers go on by themselves";
    DATABASE_LOCKS "database_locks" Permanent "A transaction needs more locks than the server has room for."
        => "give it less at once, or raise max_locks_per_transaction on the database's server";
    DATABASE_URL_INVALID "database_url_invalid" Permanent "The database's URL cannot be read, or one of its parameters has an unknown value."
        => "write it as postgres://user:password@host:5432/database, parameters behind a ?; in a password, / is %2F, # is %23, ? is %3F, @ is %40";
    DATABASE_POOLED "database_pooled" Permanent "A pooler of connections is between the program and PostgreSQL."
        => "name PostgreSQL's own host and port in the URL: HTM pools connections itself";
    WAL_POSITION_INVALID "wal_position_invalid" User "A position in the write-ahead log cannot be read."
        => "give it as a write returned it, such as 0/3000148";
    DATABASE_DENIED "database_denied" Permanent "The database refuses the login or a privilege."
        => "check user, password and database in the URL, and the role's privileges";
    DATABASE_ERROR "database_error" Bug "The database refused a statement. Transient for a deadlock, a conflict or a timeout."
        => "read what the database says; the statement changed nothing";
    CORRUPT "corrupt" Bug "The database is corrupt: no version of HTM writes such data."
        => "this is a bug; keep the database and report it";
}
