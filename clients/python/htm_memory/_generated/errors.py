"""An exception for each code of an error. Made by `clients/generate`; do not edit."""

from __future__ import annotations

from ..errors import HtmError


class RouteUnknown(HtmError):
    """The server has no such path."""


class MethodUnknown(HtmError):
    """The path has no such method."""


class ApiKeyMissing(HtmError):
    """A request has no key of the API, and the server has keys."""


class TokenInvalid(HtmError):
    """The access token is not valid for the server."""


class TokenNamespacesUnfit(HtmError):
    """The access token does not say which namespaces its holder sees."""


class AuthorizationServerUnreachable(HtmError):
    """The keys of the authorization server cannot be fetched."""


class OauthUnusable(HtmError):
    """The settings of OAuth cannot be used."""


class RoleInsufficient(HtmError):
    """The role of the key or the token does not allow the request."""


class TooManyRequests(HtmError):
    """The key has made all requests that it may make in a minute, or its namespace has."""


class BodyInvalid(HtmError):
    """The body of a request is not the JSON that the path expects, or the path takes no body."""


class BodyTooLarge(HtmError):
    """The body of a request has more bytes, or takes more memory, than the server reads."""


class BodyIncomplete(HtmError):
    """The client did not send the whole body."""


class MediaTypeUnfit(HtmError):
    """The body has a content type or an encoding that the path does not read."""


class QueryInvalid(HtmError):
    """A parameter of the query is unknown, missing or invalid."""


class PathInvalid(HtmError):
    """A part of the path is invalid."""


class HeaderInvalid(HtmError):
    """A header is missing, is there more than once, or has a value that the server cannot read."""


class UriTooLong(HtmError):
    """The URI of a request has more bytes than the server reads."""


class HeadersTooLarge(HtmError):
    """A request has more headers, or more bytes of them, than the server reads."""


class HostForbidden(HtmError):
    """The request names a host, or comes from a page, that the server does not serve."""


class DocumentUnreadable(HtmError):
    """A file cannot be read as a document: it is binary, encrypted, damaged, empty or too large."""


class BatchTooLarge(HtmError):
    """A request has more items than the server takes at once."""


class IdempotencyUnfit(HtmError):
    """The path takes no Idempotency-Key."""


class TooBusy(HtmError):
    """The server is at its limit of concurrent requests."""


class RequestTimeout(HtmError):
    """The request took longer than the server allows."""


class Stopping(HtmError):
    """The server is stopping."""


class InternalError(HtmError):
    """The server failed unexpectedly."""


class TlsUnusable(HtmError):
    """The certificate or the private key of the server cannot be used."""


class ListenNotLoopback(HtmError):
    """The server has no keys, so it may listen on this machine only."""


class ListenUnusable(HtmError):
    """The server cannot listen on the address."""


class ContentEmpty(HtmError):
    """A text is empty or only white space."""


class ContentTooLarge(HtmError):
    """A text has more bytes than a node may hold."""


class NulByte(HtmError):
    """A text has a NUL byte."""


class FieldTooLong(HtmError):
    """A field, a query or the metadata has more bytes than it may."""


class MetadataTooDeep(HtmError):
    """The metadata has too many levels of lists and objects."""


class MetadataNumberOutOfRange(HtmError):
    """The metadata has a number outside of -1e308 to 1e308."""


class ImportanceOutOfRange(HtmError):
    """An importance is outside 1 to 10."""


class ExpiryOutOfRange(HtmError):
    """The time to live of a memory or a key, or a retention time, is too short or too long."""


class ExpiryPassed(HtmError):
    """An expiry has passed: the memory would be forgotten at once."""


class NamespaceInvalid(HtmError):
    """A namespace's name is empty, too long or has a control character."""


class RobotInvalid(HtmError):
    """A robot's name is empty, too long or has a control character."""


class GroupInvalid(HtmError):
    """A group's name is empty, too long or has a control character."""


class KeyInvalid(HtmError):
    """A key is empty, too long or has a control character."""


class TimeOutOfRange(HtmError):
    """A time is outside of the years 1 to 9999."""


class LanguageUnknown(HtmError):
    """PostgreSQL has no text search configuration of this name."""


class KeyTaken(HtmError):
    """The key names another node."""


class ContentTaken(HtmError):
    """Another node has this content already, and duplicates are not allowed there."""


class Contended(HtmError):
    """Others changed the same rows at the same moment. Nothing was written. Only an erasure keeps what it has removed: resume it."""


class NotWritten(HtmError):
    """The database failed before this one of many memories was written."""


class LineInvalid(HtmError):
    """A line of a file is not in the expected format."""


class LineTooLong(HtmError):
    """A line of a file is longer than any memory."""


class ExportForbidden(HtmError):
    """A line of an export was given where only plain memories may be imported."""


class ExportVersion(HtmError):
    """The file is an export of another format, or of a later version than this program reads."""


class ExportIncomplete(HtmError):
    """An export has no end line, or other line counts than it says. Or an export or import was continued after an error."""


class VectorUnfit(HtmError):
    """A vector has another length than its model has, a number that cannot be stored, only zeros, or no model that takes it."""


class NamespaceForbidden(HtmError):
    """The handle does not see the namespace."""


class RobotForbidden(HtmError):
    """The handle acts as another robot."""


class QuotaExceeded(HtmError):
    """The quota of the namespace has no room."""


class ApiKeyInvalid(HtmError):
    """A key of the API is not one that was created here."""


class ApiKeyExpired(HtmError):
    """A key of the API has expired."""


class ApiKeyRevoked(HtmError):
    """A key of the API was revoked."""


class ApiKeyUnknown(HtmError):
    """There is no key of the API with this id."""


class SignedOut(HtmError):
    """A sign-in has ended, or its key was revoked or has expired."""


class NoRandomness(HtmError):
    """The operating system gave no random bytes."""


class OperationInvalid(HtmError):
    """An operation's id is empty, too long or has other than visible ASCII characters."""


class OperationDiffers(HtmError):
    """An operation's id was used for another request."""


class OperationOpen(HtmError):
    """Another call has begun the operation and has not ended it."""


class OperationErased(HtmError):
    """An operation was done before, and a memory of it was erased since."""


class TooManyNamespaces(HtmError):
    """The memories have tags of too many namespaces for one transaction."""


class NodeNotFound(HtmError):
    """There is no such node, or it was forgotten."""


class NotOwner(HtmError):
    """Another robot remembered the node first."""


class RememberedByOthers(HtmError):
    """Other robots remembered the node too."""


class RevisionConflict(HtmError):
    """The node was edited since it was read."""


class RelationInvalid(HtmError):
    """A relation is of an unknown kind, of a memory to itself, between two namespaces, or has an empty reason."""


class RelationCycle(HtmError):
    """A relation would close a circle with another robot's, or that of an import with one here."""


class RelationUnknown(HtmError):
    """There is no such relation between the two memories."""


class RecallUnknown(HtmError):
    """No recall of this id is kept."""


class FeedbackInvalid(HtmError):
    """A feedback names no memory, too many, one of them twice, or no hit of the last recall."""


class FeedbackExceeded(HtmError):
    """An author has judged the most recalls allowed in a day."""


class LearningInvalid(HtmError):
    """A setting of learning is outside its range, or unknown."""


class RankingUnknown(HtmError):
    """The namespace has no learnt ranking of this version."""


class RankingUnusable(HtmError):
    """The ranking cannot be used by this program."""


class NotForgotten(HtmError):
    """The node to restore is not forgotten."""


class NotConfirmed(HtmError):
    """An act that removes something was not confirmed."""


class NothingToErase(HtmError):
    """An erasure selects no memory."""


class PlanMissing(HtmError):
    """Forgetting or erasing nodes by their text needs a plan."""


class ErasePlanChanged(HtmError):
    """The memories to erase have changed since the plan was made."""


class ErasureUnknown(HtmError):
    """There is no erasure of this number, or the handle does not see it."""


class ErasedMeanwhile(HtmError):
    """Memories were erased while they were exported."""


class TimeInFuture(HtmError):
    """A time is in the future, where only the past makes sense."""


class WaitTimeout(HtmError):
    """A stage of a node was not done within the time given."""


class BackfillUnknown(HtmError):
    """There is no backfill of this number, or the handle does not see it."""


class StageDead(HtmError):
    """The job of a stage is a dead letter."""


class FilePathInvalid(HtmError):
    """A path is not one below /memories, or the command cannot be applied to it."""


class FileNotFound(HtmError):
    """There is no file or directory at the path."""


class FileExists(HtmError):
    """There is a file or directory at the path, or a file at a path above it."""


class FileIsDirectory(HtmError):
    """A command that edits a file names a directory."""


class FileEditUnfit(HtmError):
    """The text to replace does not occur in the file exactly once."""


class FileLineInvalid(HtmError):
    """A line number or a range of lines does not fit the file."""


class FileTooManyLines(HtmError):
    """A file has more lines than can be numbered."""


class DocumentPathInvalid(HtmError):
    """A document's path is empty, too long or has a control character."""


class DocumentNotFound(HtmError):
    """The namespace has no document with this path."""


class DocumentSize(HtmError):
    """A document has no passage, or more than it may have."""


class StrategyUnknown(HtmError):
    """There is no recall strategy of this name."""


class ContextOrderUnknown(HtmError):
    """There is no order of a context of this name."""


class LimitOutOfRange(HtmError):
    """A limit is outside its range."""


class AnswerTooLarge(HtmError):
    """A list of memories in an answer has more than 64 MiB."""


class MinSimilarityOutOfRange(HtmError):
    """The least similarity is outside 0 to 1."""


class DiversityOutOfRange(HtmError):
    """Diversity is outside 0 to 1."""


class QueryOnlyNegations(HtmError):
    """The query names only words that hits must not contain."""


class RelevanceWeightsInvalid(HtmError):
    """The weights of relevance are not 1 together, or one is below 0."""


class OrderByInvalid(HtmError):
    """A text does not name weights of relevance."""


class TimeframeInvalid(HtmError):
    """A text is not a timeframe."""


class TimeframeReversed(HtmError):
    """A timeframe ends before it starts, or at its start."""


class TimeWithoutBeginning(HtmError):
    """A time has no beginning, so it is no point in time."""


class ZoneUnknown(HtmError):
    """There is no time zone of this name."""


class CursorInvalid(HtmError):
    """A text is not the cursor of a page."""


class GroupingUnknown(HtmError):
    """The grouping of a timeline is unknown."""


class EmbedderMissing(HtmError):
    """Strategy `vector` needs an embedding provider, and the handle has none."""


class EmbedderOther(HtmError):
    """The program has no embedder for the model that recall uses."""


class RerankerMissing(HtmError):
    """Re-ranking was asked for, and the handle has no re-ranker."""


class ExpanderMissing(HtmError):
    """Query expansion was asked for, and the handle has no language model for it."""


class NodeOversized(HtmError):
    """A node alone has more tokens than the working memory holds."""


class EncodingUnknown(HtmError):
    """There is no token encoding of this name."""


class BudgetOutOfRange(HtmError):
    """A budget in tokens is outside its range."""


class RobotUnknown(HtmError):
    """The namespace has no robot of this name."""


class RobotTaken(HtmError):
    """The namespace has a robot of this name already."""


class MergeIntoItself(HtmError):
    """A robot cannot be merged into itself."""


class NothingToMerge(HtmError):
    """No robot or tag to merge was named."""


class GroupUnknown(HtmError):
    """The namespace has no group of this name."""


class GroupMemberUnknown(HtmError):
    """The robot is no member of the group."""


class GroupMemberPassive(HtmError):
    """The robot is a passive member of the group: it does not write."""


class GroupMemberReplaced(HtmError):
    """Another member took over, another process speaks for this robot now, or the robot was merged."""


class GroupMemberLost(HtmError):
    """The member was not seen for its lease."""


class GroupLastActive(HtmError):
    """The only active member has no passive one to take over."""


class GroupClosed(HtmError):
    """The group was shut down."""


class GroupElsewhere(HtmError):
    """The memory and the group are of different namespaces."""


class GroupTransferToItself(HtmError):
    """A group cannot be transferred to itself."""


class GroupSettingOutOfRange(HtmError):
    """A setting of a membership is outside its range."""


class TagInvalid(HtmError):
    """A text is not a tag."""


class TooManyTags(HtmError):
    """More tags were given at once than are allowed."""


class NamespaceFull(HtmError):
    """The namespace has as many tags as it may."""


class TagUnknown(HtmError):
    """The namespace has no such tag."""


class TagTaken(HtmError):
    """The new name is a tag already."""


class TagIntoItself(HtmError):
    """A tag cannot be renamed, merged or split into itself."""


class TagIntoOwnChild(HtmError):
    """A tag cannot be moved below itself."""


class TagUnmovable(HtmError):
    """A change would give a tag a name that breaks a rule."""


class TagInUse(HtmError):
    """Nodes have the tag that was to be removed, or one below it."""


class TagIsSynonym(HtmError):
    """The name is a synonym of a tag."""


class SynonymIsTag(HtmError):
    """The synonym is already a tag, or a parent of tags."""


class SynonymUnknown(HtmError):
    """No tag of the namespace has this synonym."""


class NothingToSplit(HtmError):
    """A tag is split into at least two tags."""


class DescriptionTooLong(HtmError):
    """A tag's description has more bytes than it may."""


class OntologyVersion(HtmError):
    """The ontology document has another version than this program reads."""


class TagTwice(HtmError):
    """A tag occurs twice in an ontology document."""


class ChangeUnknown(HtmError):
    """The namespace's log has no change of this number."""


class ChangeReverted(HtmError):
    """The change was reverted before."""


class ChangedSince(HtmError):
    """A later change altered the same name."""


class JobNotFound(HtmError):
    """There is no such job, or its row was pruned."""


class JobStateUnfit(HtmError):
    """The job's state does not allow this action."""


class QueueUnknown(HtmError):
    """There is no queue of this name."""


class ProviderUnknown(HtmError):
    """Nothing is known of this provider or of its model."""


class ProviderUnreachable(HtmError):
    """A provider cannot be connected to, or the connection broke."""


class ProviderTimeout(HtmError):
    """A provider did not answer within its deadline."""


class ProviderRateLimited(HtmError):
    """A provider limits the rate of requests (429, or 503 with `Retry-After`)."""


class ProviderServerError(HtmError):
    """A provider is in trouble (a 5xx answer)."""


class ProviderRefusedText(HtmError):
    """A provider refused a text (400, 413, 422)."""


class ProviderRefusedAll(HtmError):
    """A provider refuses every text (400, 413, 422), even a harmless one."""


class ProviderUnauthorized(HtmError):
    """A provider refused the key (401, 403)."""


class ProviderQuotaExceeded(HtmError):
    """The account's quota at the provider is spent."""


class ProviderModelNotFound(HtmError):
    """The provider has no such model (404)."""


class ProviderOtherDimensions(HtmError):
    """A provider's vectors have another length than those of the model in the database."""


class ProviderBadResponse(HtmError):
    """A provider's answer breaks the contract."""


class ProviderUnusableAnswer(HtmError):
    """A language model gave an answer that cannot be used, twice."""


class ModelUnknown(HtmError):
    """No embedding model of this label is registered."""


class ModelNotReady(HtmError):
    """Nothing is embedded with the configured model yet."""


class ModelRetired(HtmError):
    """The embedding model is retired."""


class VectorIndexUnavailable(HtmError):
    """The database lacks the extension of the wanted kind of vector index."""


class ModelActive(HtmError):
    """The embedding model is the active one, and cannot be retired."""


class ModelIncomplete(HtmError):
    """Vector search would no longer find some nodes if the model were activated."""


class ModelOfCallers(HtmError):
    """The vectors of the embedding model come from callers: HTM computes none."""


class WriterOpen(HtmError):
    """A transaction that remembered something is open for too long."""


class VersionUnfit(HtmError):
    """A prompt's version was named for a stage without a prompt."""


class DatabaseUnreachable(HtmError):
    """The database cannot be reached."""


class HandleClosed(HtmError):
    """The handle was closed, or its pool was."""


class DatabaseNoPrimary(HtmError):
    """None of the hosts in the database's URL is a primary."""


class DatabaseExhausted(HtmError):
    """The database has run out of disk, memory or files."""


class DatabaseLocks(HtmError):
    """A transaction needs more locks than the server has room for."""


class DatabaseUrlInvalid(HtmError):
    """The database's URL cannot be read, or one of its parameters has an unknown value."""


class DatabasePooled(HtmError):
    """A pooler of connections is between the program and PostgreSQL."""


class WalPositionInvalid(HtmError):
    """A position in the write-ahead log cannot be read."""


class DatabaseDenied(HtmError):
    """The database refuses the login or a privilege."""


class DatabaseError(HtmError):
    """The database refused a statement. Transient for a deadlock, a conflict or a timeout."""


class Corrupt(HtmError):
    """The database is corrupt: no version of HTM writes such data."""


BY_CODE: dict[str, type[HtmError]] = {
    "route_unknown": RouteUnknown,
    "method_unknown": MethodUnknown,
    "api_key_missing": ApiKeyMissing,
    "token_invalid": TokenInvalid,
    "token_namespaces_unfit": TokenNamespacesUnfit,
    "authorization_server_unreachable": AuthorizationServerUnreachable,
    "oauth_unusable": OauthUnusable,
    "role_insufficient": RoleInsufficient,
    "too_many_requests": TooManyRequests,
    "body_invalid": BodyInvalid,
    "body_too_large": BodyTooLarge,
    "body_incomplete": BodyIncomplete,
    "media_type_unfit": MediaTypeUnfit,
    "query_invalid": QueryInvalid,
    "path_invalid": PathInvalid,
    "header_invalid": HeaderInvalid,
    "uri_too_long": UriTooLong,
    "headers_too_large": HeadersTooLarge,
    "host_forbidden": HostForbidden,
    "document_unreadable": DocumentUnreadable,
    "batch_too_large": BatchTooLarge,
    "idempotency_unfit": IdempotencyUnfit,
    "too_busy": TooBusy,
    "request_timeout": RequestTimeout,
    "stopping": Stopping,
    "internal_error": InternalError,
    "tls_unusable": TlsUnusable,
    "listen_not_loopback": ListenNotLoopback,
    "listen_unusable": ListenUnusable,
    "content_empty": ContentEmpty,
    "content_too_large": ContentTooLarge,
    "nul_byte": NulByte,
    "field_too_long": FieldTooLong,
    "metadata_too_deep": MetadataTooDeep,
    "metadata_number_out_of_range": MetadataNumberOutOfRange,
    "importance_out_of_range": ImportanceOutOfRange,
    "expiry_out_of_range": ExpiryOutOfRange,
    "expiry_passed": ExpiryPassed,
    "namespace_invalid": NamespaceInvalid,
    "robot_invalid": RobotInvalid,
    "group_invalid": GroupInvalid,
    "key_invalid": KeyInvalid,
    "time_out_of_range": TimeOutOfRange,
    "language_unknown": LanguageUnknown,
    "key_taken": KeyTaken,
    "content_taken": ContentTaken,
    "contended": Contended,
    "not_written": NotWritten,
    "line_invalid": LineInvalid,
    "line_too_long": LineTooLong,
    "export_forbidden": ExportForbidden,
    "export_version": ExportVersion,
    "export_incomplete": ExportIncomplete,
    "vector_unfit": VectorUnfit,
    "namespace_forbidden": NamespaceForbidden,
    "robot_forbidden": RobotForbidden,
    "quota_exceeded": QuotaExceeded,
    "api_key_invalid": ApiKeyInvalid,
    "api_key_expired": ApiKeyExpired,
    "api_key_revoked": ApiKeyRevoked,
    "api_key_unknown": ApiKeyUnknown,
    "signed_out": SignedOut,
    "no_randomness": NoRandomness,
    "operation_invalid": OperationInvalid,
    "operation_differs": OperationDiffers,
    "operation_open": OperationOpen,
    "operation_erased": OperationErased,
    "too_many_namespaces": TooManyNamespaces,
    "node_not_found": NodeNotFound,
    "not_owner": NotOwner,
    "remembered_by_others": RememberedByOthers,
    "revision_conflict": RevisionConflict,
    "relation_invalid": RelationInvalid,
    "relation_cycle": RelationCycle,
    "relation_unknown": RelationUnknown,
    "recall_unknown": RecallUnknown,
    "feedback_invalid": FeedbackInvalid,
    "feedback_exceeded": FeedbackExceeded,
    "learning_invalid": LearningInvalid,
    "ranking_unknown": RankingUnknown,
    "ranking_unusable": RankingUnusable,
    "not_forgotten": NotForgotten,
    "not_confirmed": NotConfirmed,
    "nothing_to_erase": NothingToErase,
    "plan_missing": PlanMissing,
    "erase_plan_changed": ErasePlanChanged,
    "erasure_unknown": ErasureUnknown,
    "erased_meanwhile": ErasedMeanwhile,
    "time_in_future": TimeInFuture,
    "wait_timeout": WaitTimeout,
    "backfill_unknown": BackfillUnknown,
    "stage_dead": StageDead,
    "file_path_invalid": FilePathInvalid,
    "file_not_found": FileNotFound,
    "file_exists": FileExists,
    "file_is_directory": FileIsDirectory,
    "file_edit_unfit": FileEditUnfit,
    "file_line_invalid": FileLineInvalid,
    "file_too_many_lines": FileTooManyLines,
    "document_path_invalid": DocumentPathInvalid,
    "document_not_found": DocumentNotFound,
    "document_size": DocumentSize,
    "strategy_unknown": StrategyUnknown,
    "context_order_unknown": ContextOrderUnknown,
    "limit_out_of_range": LimitOutOfRange,
    "answer_too_large": AnswerTooLarge,
    "min_similarity_out_of_range": MinSimilarityOutOfRange,
    "diversity_out_of_range": DiversityOutOfRange,
    "query_only_negations": QueryOnlyNegations,
    "relevance_weights_invalid": RelevanceWeightsInvalid,
    "order_by_invalid": OrderByInvalid,
    "timeframe_invalid": TimeframeInvalid,
    "timeframe_reversed": TimeframeReversed,
    "time_without_beginning": TimeWithoutBeginning,
    "zone_unknown": ZoneUnknown,
    "cursor_invalid": CursorInvalid,
    "grouping_unknown": GroupingUnknown,
    "embedder_missing": EmbedderMissing,
    "embedder_other": EmbedderOther,
    "reranker_missing": RerankerMissing,
    "expander_missing": ExpanderMissing,
    "node_oversized": NodeOversized,
    "encoding_unknown": EncodingUnknown,
    "budget_out_of_range": BudgetOutOfRange,
    "robot_unknown": RobotUnknown,
    "robot_taken": RobotTaken,
    "merge_into_itself": MergeIntoItself,
    "nothing_to_merge": NothingToMerge,
    "group_unknown": GroupUnknown,
    "group_member_unknown": GroupMemberUnknown,
    "group_member_passive": GroupMemberPassive,
    "group_member_replaced": GroupMemberReplaced,
    "group_member_lost": GroupMemberLost,
    "group_last_active": GroupLastActive,
    "group_closed": GroupClosed,
    "group_elsewhere": GroupElsewhere,
    "group_transfer_to_itself": GroupTransferToItself,
    "group_setting_out_of_range": GroupSettingOutOfRange,
    "tag_invalid": TagInvalid,
    "too_many_tags": TooManyTags,
    "namespace_full": NamespaceFull,
    "tag_unknown": TagUnknown,
    "tag_taken": TagTaken,
    "tag_into_itself": TagIntoItself,
    "tag_into_own_child": TagIntoOwnChild,
    "tag_unmovable": TagUnmovable,
    "tag_in_use": TagInUse,
    "tag_is_synonym": TagIsSynonym,
    "synonym_is_tag": SynonymIsTag,
    "synonym_unknown": SynonymUnknown,
    "nothing_to_split": NothingToSplit,
    "description_too_long": DescriptionTooLong,
    "ontology_version": OntologyVersion,
    "tag_twice": TagTwice,
    "change_unknown": ChangeUnknown,
    "change_reverted": ChangeReverted,
    "changed_since": ChangedSince,
    "job_not_found": JobNotFound,
    "job_state_unfit": JobStateUnfit,
    "queue_unknown": QueueUnknown,
    "provider_unknown": ProviderUnknown,
    "provider_unreachable": ProviderUnreachable,
    "provider_timeout": ProviderTimeout,
    "provider_rate_limited": ProviderRateLimited,
    "provider_server_error": ProviderServerError,
    "provider_refused_text": ProviderRefusedText,
    "provider_refused_all": ProviderRefusedAll,
    "provider_unauthorized": ProviderUnauthorized,
    "provider_quota_exceeded": ProviderQuotaExceeded,
    "provider_model_not_found": ProviderModelNotFound,
    "provider_other_dimensions": ProviderOtherDimensions,
    "provider_bad_response": ProviderBadResponse,
    "provider_unusable_answer": ProviderUnusableAnswer,
    "model_unknown": ModelUnknown,
    "model_not_ready": ModelNotReady,
    "model_retired": ModelRetired,
    "vector_index_unavailable": VectorIndexUnavailable,
    "model_active": ModelActive,
    "model_incomplete": ModelIncomplete,
    "model_of_callers": ModelOfCallers,
    "writer_open": WriterOpen,
    "version_unfit": VersionUnfit,
    "database_unreachable": DatabaseUnreachable,
    "handle_closed": HandleClosed,
    "database_no_primary": DatabaseNoPrimary,
    "database_exhausted": DatabaseExhausted,
    "database_locks": DatabaseLocks,
    "database_url_invalid": DatabaseUrlInvalid,
    "database_pooled": DatabasePooled,
    "wal_position_invalid": WalPositionInvalid,
    "database_denied": DatabaseDenied,
    "database_error": DatabaseError,
    "corrupt": Corrupt,
}
