"""The bodies of answers and requests. Made by `clients/generate`; do not edit."""
from __future__ import annotations

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, RootModel
from typing_extensions import TypeAliasType


class Activate(BaseModel):
    """
    The model to activate.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    force: bool | None = None
    """
    Whether memories that vectors find now may be lost to them.
    """
    label: str
    """
    Its label.
    """


class ActivateBody(BaseModel):
    """
    The version to use.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    version: int
    """
    The version; 0 is the default ranking.
    """


class Activation(BaseModel):
    """
    The result of an activation.
    """

    active: str
    """
    The label of the model that recall uses now.
    """
    enqueued: int
    """
    The number of jobs enqueued for nodes that the new model lacks. Unless forced, the old one lacked them as well.
    """
    lost: int
    """
    The number of nodes that vectors found before and do not find now; 0 unless forced.
    """
    standby: str | None = None
    """
    The label of the formerly active model, which is on standby now; none if there was no other.
    """


class Ages(BaseModel):
    """
    Live nodes by age; each is counted once.
    """

    day: int
    """
    Within the last 24 hours, or in the future.
    """
    month: int
    """
    Within the last 30 days, otherwise.
    """
    older: int
    """
    Older.
    """
    week: int
    """
    Within the last 7 days, otherwise.
    """


class AsOf(BaseModel):
    """
    The time as of which an answer is, and what it lacks.
    """

    at: AwareDatetime
    """
    The time.
    """
    former_texts: int
    """
    The number of memories in namespace and timeframe that had another text then. Their former texts are found by words
    alone: vectors are of current texts.
    """
    warning: str
    """
    A warning about the limits of the answer, for people.
    """


class AuditEntry(BaseModel):
    """
    An entry of the audit log.
    """

    action: str
    """
    The action, such as `key.revoke`, `quota.set`, `purge`, `tags.rename`.
    """
    actor: str
    """
    The actor: a key of the API, or the robot of a program.
    """
    at: AwareDatetime
    """
    The time of the action.
    """
    details: dict[str, Any]
    """
    Numbers and names. No text of a memory.
    """
    namespace: str | None = None
    """
    The namespace. Null: all.
    """
    subject: str | None = None
    """
    The subject of the action, such as a key's id.
    """


class AuditLog(BaseModel):
    """
    The audit log.
    """

    entries: list[AuditEntry]
    """
    The newest first.
    """
    next: str | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class BackfillProgress(BaseModel):
    """
    The states of the backfill jobs of a run's queue (and namespace).
    """

    dead: int
    """
    Dead letters.
    """
    open: int
    """
    Open jobs.
    """
    parked: int
    """
    Parked jobs: they wait for a budget or an operator.
    """


class BroughtVector(BaseModel):
    """
    The vector of a memory's text.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    any_robot: bool | None = None
    """
    Whether a memory of any robot may be changed.
    """
    model: str
    """
    The label of the model, such as `caller/mine`.
    """
    namespace: str | None = None
    """
    The namespace of the robot that brings it. Default: the server's.
    """
    revision: int
    """
    The revision of the text that it was made of.
    """
    robot: str | None = None
    """
    The robot that brings it: it may change what it remembered. Default: the server's.
    """
    vector: list[float]
    """
    Its numbers, as many as the model has dimensions.
    """


class Budget(BaseModel):
    """
    The daily token budget of a namespace, and its use.
    """

    namespace: str
    """
    The namespace.
    """
    parked: int
    """
    Jobs that wait for tomorrow's budget.
    """
    tokens_per_day: int
    """
    Tokens a day (UTC), at all providers together.
    """
    tokens_used: int
    """
    Tokens spent today.
    """


class CallersModel(BaseModel):
    """
    A model whose vectors callers bring.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    dimensions: Annotated[int, Field(ge=0)]
    """
    The length of its vectors, 1 to 4,000.
    """
    name: str
    """
    Its name. The label is `caller/` and the name.
    """


class Change(BaseModel):
    """
    The namespace and the author of a change, and whether it is a dry run.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    by: str | None = None
    """
    The author in the log. Default: the server's robot.
    """
    dry_run: bool | None = False
    """
    Answers with the plan, and changes nothing.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """


class ChangedJobs(BaseModel):
    """
    The number of changed jobs.
    """

    jobs: Annotated[int, Field(ge=0)]


class CoOccurrence(BaseModel):
    """
    Two tags with common nodes.
    """

    jaccard: float
    """
    The share of common nodes, 0 to 1.
    """
    nodes: int
    """
    Live nodes with both.
    """
    other: str
    """
    The other.
    """
    other_nodes: int
    """
    Live nodes with the other.
    """
    tag: str
    """
    One tag.
    """
    tag_nodes: int
    """
    Live nodes with the one.
    """


class Correction(BaseModel):
    """
    A spell-corrected word.
    """

    asked: str
    """
    The word of the query.
    """
    used: str
    """
    The replacement: the word with one edit, or the most similar stem.
    """


class PagesLeftOutItem(RootModel[int]):
    root: Annotated[int, Field(ge=0)]


class DocumentBody(BaseModel):
    """
    A document to load.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    any_robot: bool | None = None
    """
    Whether a document of any robot may be changed.
    """
    bytes: str | None = None
    """
    The bytes of the file in base64, such as those of a PDF.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    overlap: Annotated[int | None, Field(ge=0, le=50000)] = None
    """
    The characters that a passage repeats of the one before it, up to half of the size. Default: 100.
    """
    path: str
    """
    Its path, which identifies it in its namespace. Its extension tells the kind of the file.
    """
    robot: str | None = None
    """
    The robot that loads: it may change the documents that it loaded. Default: the server's.
    """
    size: Annotated[int | None, Field(ge=200, le=100000)] = None
    """
    The most characters of a passage, 200 to 100,000. Default: 1,000.
    """
    tags: list[str] | None = None
    """
    Tags of each passage, beside those of the front matter.
    """
    text: str | None = None
    """
    The text of the file. Instead: `bytes`.
    """


class EraseNamespace(BaseModel):
    """
    The confirmation of an act on a namespace.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    confirm: bool | None = None
    """
    The act is refused without it.
    """
    dry_run: bool | None = None
    """
    Answers with the plan, and erases nothing.
    """


RemovedAdditionalProperty = TypeAliasType("RemovedAdditionalProperty", Annotated[int, Field(ge=0)])


class FeedbackAuthor(BaseModel):
    """
    An author of feedback.
    """

    author: str
    """
    A key or a robot.
    """
    recalls: int
    """
    The recalls that it judged.
    """
    used: int
    """
    Memories that it used.
    """
    useless: int
    """
    Memories that it found useless.
    """


class FileCreation(BaseModel):
    """
    A file to create.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    command: str | None = None
    """
    `create`, or not given.
    """
    file_text: str
    """
    Its text, at most 1 MiB.
    """
    path: str
    """
    Its path, below `/memories`.
    """


class FileDeletion(BaseModel):
    """
    A file or a directory to delete.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    command: str | None = None
    """
    `delete`, or not given.
    """
    path: str
    """
    Its path, below `/memories`.
    """


class FileInsertion(BaseModel):
    """
    Lines to insert into a file.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    command: str | None = None
    """
    `insert`, or not given.
    """
    insert_line: int
    """
    The number of the line that they follow; 0 is the beginning.
    """
    insert_text: str
    """
    The lines.
    """
    path: str
    """
    The path of the file.
    """


class FileRenaming(BaseModel):
    """
    A file or a directory to rename.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    command: str | None = None
    """
    `rename`, or not given.
    """
    new_path: str
    """
    Its new path, where nothing is.
    """
    old_path: str
    """
    Its path, below `/memories`.
    """


class FileReplacement(BaseModel):
    """
    A text of a file to replace.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    command: str | None = None
    """
    `str_replace`, or not given.
    """
    new_str: str
    """
    The text in its place.
    """
    old_str: str
    """
    The text to replace, which occurs exactly once.
    """
    path: str
    """
    The path of the file.
    """


class FileView(BaseModel):
    """
    A file or a directory to read.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    command: str | None = None
    """
    `view`, or not given.
    """
    path: str
    """
    Its path, `/memories` or below.
    """
    view_range: list[int] | None = None
    """
    The first and the last line of a file, from 1. -1 is the end of the file.
    """


class FilterBody(BaseModel):
    """
    The conditions on the memories of a request. A memory passes if it meets every condition.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    any_tag: bool | None = False
    """
    Whether any of the tags is enough.
    """
    exact_tags: list[str] | None = []
    """
    Required tags, exactly these.
    """
    metadata: dict[str, Any] | None = None
    """
    Required metadata: a memory's metadata contains these values under these names, at any depth.
    """
    min_importance: float | None = None
    """
    The least importance, 1 to 10.
    """
    namespaces: list[str] | None = []
    """
    The namespaces. Default: the server's.
    """
    robots: list[str] | None = []
    """
    Only memories of any of these robots.
    """
    session: str | None = None
    """
    Only memories of this conversation.
    """
    sources: list[str] | None = []
    """
    Only memories from any of these sources.
    """
    tags: list[str] | None = []
    """
    Required tags, each with the tags below it.
    """
    timeframe: str | None = None
    """
    The time: `last week`, `2026-03-01..2026-04-01`, `auto` (taken from the query). Default: any.
    """
    types: list[str] | None = []
    """
    Only memories of any of these kinds: `fact`, `decision`, …
    """


class ForgetMatching(BaseModel):
    """
    The memories to forget: those that match a text.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    any_robot: bool | None = None
    """
    Whether memories of any robot may be forgotten.
    """
    confirm: bool | None = None
    """
    The act is refused without it.
    """
    dry_run: bool | None = None
    """
    Answers with the plan, and forgets nothing.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    robot: str | None = None
    """
    The robot that forgets: it may forget what it remembered. Default: the server's.
    """
    text: str
    """
    The words that they contain.
    """


class GroupCount(BaseModel):
    """
    A group of nodes.
    """

    name: str | None = None
    """
    Its name; none for nodes without one.
    """
    namespace: str | None = None
    """
    Its namespace; none for a type, which spans them.
    """
    nodes: int
    """
    Its live nodes.
    """
    tokens: int | None = None
    """
    Their tokens; none for a tag.
    """


class GroupUse(BaseModel):
    """
    The utilisation of a group's working memory.
    """

    active: int
    """
    Active members within their lease.
    """
    group: str
    """
    Its name.
    """
    max_tokens: int
    """
    Its token budget.
    """
    members: int
    """
    Its members.
    """
    namespace: str
    """
    Its namespace.
    """
    nodes: int
    """
    Live nodes in its working memory.
    """
    tokens: int
    """
    Their tokens.
    """
    utilisation: float
    """
    The used share of the budget, 0 to 1; more if a node in it grew.
    """


class IndexSize(BaseModel):
    """
    The disk space of an index.
    """

    bytes: int
    """
    Bytes.
    """
    name: str
    """
    Its name.
    """
    table: str
    """
    Its table.
    """


class Join(BaseModel):
    """
    A new member.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    lease_ms: Annotated[int | None, Field(ge=0)] = None
    """
    The time between two heartbeats after which it is lost, in milliseconds, 100 to 86,400,000. Default: 30,000.
    """
    max_tokens: Annotated[int | None, Field(ge=0)] = None
    """
    The token budget of the group, if this is its first member. Default: 128,000.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    robot: str
    """
    The robot.
    """
    role: Literal['active', 'passive'] | None = None


class KeptBy(BaseModel):
    """
    A robot that keeps a memory.
    """

    first_repeat: AwareDatetime | None = None
    """
    Its first repeat; none without repeats.
    """
    in_working_memory: bool
    """
    Whether its saved working memory holds it.
    """
    last_repeat: AwareDatetime | None = None
    """
    Its last repeat.
    """
    made: bool
    """
    Whether it remembered the memory first.
    """
    namespace: str
    """
    Its namespace; a working memory may hold nodes of other namespaces.
    """
    remember_count: int
    """
    The number of times that it remembered the memory, including the first.
    """
    robot: str
    """
    Its name.
    """


class Left(BaseModel):
    """
    A membership that has ended.
    """

    robot: str
    """
    The robot.
    """


class Limits(BaseModel):
    """
    Limits of a provider's model. Null removes one; one that is not given stays.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    concurrent_calls: int | None = None
    """
    Concurrent calls, at least 1.
    """
    model: str
    """
    The model, such as `openai/text-embedding-3-small`.
    """
    requests_per_minute: int | None = None
    """
    Requests a minute, at least 1.
    """
    tokens_per_minute: int | None = None
    """
    Tokens a minute, at least 1.
    """


class LineImported2(BaseModel):
    """
    The result of a line.
    """

    line: Annotated[int, Field(ge=0)]
    """
    The number of the line, from 1.
    """


class LoadedDocument(BaseModel):
    """
    The result of loading a document.
    """

    forgotten: Annotated[int, Field(ge=0)]
    """
    The passages that were forgotten.
    """
    kept: Annotated[int, Field(ge=0)]
    """
    Those of them that it had before. They keep their nodes, their vectors and their tags.
    """
    outcome: Literal['loaded', 'changed', 'unchanged']
    """
    The outcome.
    """
    passages: Annotated[int, Field(ge=0)]
    """
    The passages that it has now.
    """
    path: str
    """
    The path.
    """
    written: Annotated[int, Field(ge=0)]
    """
    Those of them that were written.
    """


class LoggedChange(BaseModel):
    """
    A change in the log.
    """

    change: int
    """
    Its number.
    """
    details: Any
    """
    The request.
    """
    kind: Literal['add', 'import', 'template', 'remove', 'rename', 'merge', 'split', 'add_synonym', 'remove_synonym', 'mark_distinct', 'unmark_distinct', 'revert']
    """
    Its kind.
    """
    made_at: AwareDatetime
    """
    When it was made.
    """
    made_by: str | None = None
    """
    The author.
    """
    names: int
    """
    The number of its names.
    """
    nodes: int
    """
    The number of nodes with changed or renamed tags.
    """
    reverted_by: int | None = None
    """
    The change that reverted it.
    """


class MapBody(BaseModel):
    """
    The query of a map.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    filter: FilterBody | None = None
    """
    The memories of the map.
    """
    limit: Annotated[int | None, Field(ge=0)] = None
    """
    The most memories, 1 to 5,000: a sample of those that pass the filter. Default: 2,000.
    """


class MemoryEdit(BaseModel):
    """
    Changes of a memory. Fields that are not given stay.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    add_tags: list[str] | None = None
    """
    Tags to add.
    """
    any_robot: bool | None = None
    """
    Whether a memory of any robot may be changed.
    """
    content: str | None = None
    """
    The new text.
    """
    expires_at: AwareDatetime | None = None
    """
    When it expires; null: never.
    """
    importance: float | None = None
    """
    1 to 10.
    """
    key: str | None = None
    """
    Its key; null removes it.
    """
    metadata: dict[str, Any] | None = None
    """
    Entries to set; null removes one.
    """
    namespace: str | None = None
    """
    The namespace of the robot that edits. Default: the server's.
    """
    remove_tags: list[str] | None = None
    """
    Tags to remove.
    """
    robot: str | None = None
    """
    The robot that edits: it may change what it remembered. Default: the server's.
    """
    source: str | None = None
    """
    Its source; null removes it.
    """
    ttl_seconds: Annotated[int | None, Field(ge=0)] = None
    """
    Instead of `expires_at`: the seconds from now to its expiry.
    """
    type: str | None = None
    """
    Its kind; null removes it.
    """


class MergeReceipt(BaseModel):
    """
    The receipt of a merge.
    """

    from_: Annotated[list[str], Field(alias='from')]
    """
    The deleted robots.
    """
    into: str
    """
    The remaining robot.
    """
    memberships: int
    """
    Ended group memberships.
    """
    namespace: str
    """
    The namespace.
    """
    nodes: int
    """
    Moved nodes, including forgotten ones.
    """
    repeats: int
    """
    Moved records of repeats.
    """
    working_memory: int
    """
    Nodes added to its working memory.
    """


class MergeRobots(BaseModel):
    """
    A merge of robots.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    dry_run: bool | None = None
    """
    Answers with the plan, and changes nothing.
    """
    from_: Annotated[list[str], Field(alias='from')]
    """
    The robots that go.
    """
    into: str
    """
    The robot that stays.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """


class MergeTags(Change):
    """
    A merge of tags.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    from_: Annotated[list[str], Field(alias='from')]
    """
    The tags that go. Their names become synonyms.
    """
    into: str
    """
    The tag that stays.
    """


class Message(BaseModel):
    """
    A message.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    content: str
    """
    The text.
    """
    created_at: AwareDatetime | None = None
    """
    When it was said. Default: now.
    """
    name: str | None = None
    """
    The speaker's name, if it says more than the role.
    """
    role: str
    """
    The role of the speaker: `user`, `assistant`, … It is the speaker of a message without a name, otherwise `role` of the
    metadata.
    """


class ModelName(BaseModel):
    """
    A model by provider and name, as in `local/all-MiniLM-L6-v2`.
    """

    name: str
    """
    The provider's own name of the model.
    """
    provider: str
    """
    `local`, `ollama`, `openai`, `fake`, or `caller` for vectors that come with writes.
    """


class ModelOverview(BaseModel):
    """
    The progress of a model.
    """

    bytes: int
    """
    The size of its store and indexes, in bytes.
    """
    dead: int
    """
    The number of dead letters in its queue.
    """
    embedded: int
    """
    The number of nodes with an embedding of their current text.
    """
    indexed: bool
    """
    Whether its vector index is complete.
    """
    nodes: int
    """
    The number of live nodes.
    """
    open: int
    """
    The number of open jobs in its queue.
    """


class Moved(BaseModel):
    """
    A renamed or merged tag.
    """

    from_: Annotated[str, Field(alias='from')]
    """
    Its former name.
    """
    merged: bool
    """
    Whether that tag existed before.
    """
    to: str
    """
    Its new name, or the tag that it was merged into.
    """


class Namespaces(BaseModel):
    """
    A page of namespaces.
    """

    namespaces: list[str]
    next: str | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class NewBudget(BaseModel):
    """
    A budget of a namespace.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    namespace: str
    """
    The namespace.
    """
    tokens_per_day: int | None = None
    """
    The tokens that it may spend a day. Null: any number.
    """


class NewMemory(BaseModel):
    """
    A memory to remember. Only the text is required.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    content: str
    """
    The text: 1 byte to 1 MiB, not only white space.
    """
    created_at: AwareDatetime | None = None
    """
    When it happened. Default: now.
    """
    expires_at: AwareDatetime | None = None
    """
    When it expires. Default: never.
    """
    importance: float | None = None
    """
    Its importance, 1 to 10: 1–3 for transient facts, 7–10 for decisions and preferences. Default: 1.
    """
    key: str | None = None
    """
    Its key, unique in its namespace.
    """
    language: str | None = None
    """
    The PostgreSQL text search configuration that stems it. Default: the server's.
    """
    metadata: dict[str, Any] | None = None
    """
    Its metadata: an object of at most 64 KiB, 64 levels deep.
    """
    namespace: str | None = None
    """
    Its namespace. Default: the server's.
    """
    robot: str | None = None
    """
    The robot that remembers. Default: the server's.
    """
    seq: int | None = None
    """
    Its position in the conversation.
    """
    session: str | None = None
    """
    Its conversation.
    """
    source: str | None = None
    """
    Its source: a file, a chat, a URL.
    """
    speaker: str | None = None
    """
    Its speaker.
    """
    tags: list[str] | None = None
    """
    Tags; the tag-worker adds its own.
    """
    ttl_seconds: Annotated[int | None, Field(ge=0)] = None
    """
    Instead of `expires_at`: the seconds from now to its expiry. A refresh starts them again.
    """
    type: str | None = None
    """
    Its kind: `fact`, `decision`, `question`, …
    """
    vectors: dict[str, list[float]] | None = None
    """
    Its vectors, by the labels of models whose vectors callers bring.
    """


class NewQuota(BaseModel):
    """
    The limits of a quota. Null removes one; one that is not given stays.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    max_bytes: int | None = None
    """
    The most bytes of their texts.
    """
    max_memories: int | None = None
    """
    The most live memories.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    requests_per_minute: int | None = None
    """
    The most requests a minute, of keys and tokens that see the namespace and no other. `tenant-7/*` counts those of all
    namespaces below `tenant-7`.
    """


class NewRetention(BaseModel):
    """
    A retention policy. Null keeps everything; a time that is not given stays.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    confirm: bool | None = None
    """
    A policy by which the next sweep removes something is refused without it.
    """
    dry_run: bool | None = None
    """
    Answers with the plan, and sets nothing.
    """
    forget_after_seconds: int | None = None
    """
    The age in seconds at which a memory is forgotten.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    purge_after_seconds: int | None = None
    """
    The time in seconds from forgetting to deletion.
    """


class NewRobot(BaseModel):
    """
    A new robot.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    metadata: dict[str, Any] | None = None
    """
    Its metadata.
    """
    name: str | None = None
    """
    Its name. Default: a new one, such as `quiet-heron-7`.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """


class OfMember(BaseModel):
    """
    A member of a group.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    robot: str
    """
    The member.
    """


class OfProvider(BaseModel):
    """
    A provider's model.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    model: str
    """
    The model, such as `openai/text-embedding-3-small`.
    """


class Oversized(BaseModel):
    """
    A node that exceeds the budget of a working memory.
    """

    node: int
    """
    The node.
    """
    tokens: Annotated[int, Field(ge=0)]
    """
    Its tokens.
    """


class Pause(BaseModel):
    """
    Why a queue is paused.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    reason: str
    """
    The reason, for people.
    """


class Paused(BaseModel):
    """
    Whether a queue is paused.
    """

    changed: bool
    """
    Whether this call changed it.
    """
    paused: bool
    queue: str


class PlaceFound(BaseModel):
    """
    The traces in a table.
    """

    holds: str
    """
    The data of memories in it.
    """
    mentions: Annotated[int | None, Field(ge=0)] = None
    """
    The number of rows with the given text. Null: none was given.
    """
    table: str
    """
    The table.
    """
    traces: Annotated[int, Field(ge=0)]
    """
    The number of rows about the erased memories.
    """
    vacuumed_at: AwareDatetime | None = None
    """
    When the table was vacuumed last, if that was after the erasure.
    """


class Predecessor(BaseModel):
    """
    A memory that is superseded by another one.
    """

    created_at: AwareDatetime
    """
    When it happened.
    """
    excerpt: str
    """
    The first 100 characters of its text.
    """
    made_at: AwareDatetime
    """
    When the relation was set.
    """
    node: int
    """
    Its id.
    """
    reason: str | None = None
    """
    The reason, if one was given.
    """


class Problem(BaseModel):
    """
    Problem details (RFC 9457).
    """

    type: str
    """
    A URI reference of the kind of problem.
    """
    title: str
    """
    What the code means.
    """
    status: int
    """
    The HTTP status.
    """
    detail: str
    """
    What was wrong, with its value.
    """
    code: str
    """
    A stable code for programs, such as `key_taken`. `x-codes` lists those of this version.
    """
    hint: str
    """
    The next step.
    """
    values: dict[str, str] | None = None
    """
    Values of the detail for programs, such as the node that has a key.
    """


class Provider(BaseModel):
    """
    A model of a provider, as an operator sees it. A model without limits that never failed has no row.
    """

    breaker: Literal['closed', 'open', 'half_open']
    """
    The state of its breaker.
    """
    calls: int
    """
    Calls in progress; counted only if `concurrent_calls` is set.
    """
    concurrent_calls: int | None = None
    """
    The most concurrent calls; none: no limit.
    """
    failures: int
    """
    Consecutive failed calls.
    """
    held_ms: int | None = None
    """
    The time for which nothing is claimed yet, in milliseconds; none if the model may be called.
    """
    model: str
    """
    The model's label.
    """
    reason: str | None = None
    """
    The reason of the last failure.
    """
    requests_per_minute: int | None = None
    """
    The most requests that the fleet may send in a minute; none: no limit.
    """
    resume_at: AwareDatetime | None = None
    """
    The provider's Retry-After: no call before. It may have passed.
    """
    retry_at: AwareDatetime | None = None
    """
    Open: the time of the next trial call. Half open: the time when that trial is given up.
    """
    tokens_per_minute: int | None = None
    """
    The most tokens that it may send in a minute; none: no limit.
    """
    waiting: int
    """
    Calls that wait in line for a limit.
    """


class PurgeBody(BaseModel):
    """
    The memories to purge.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    all: bool | None = None
    """
    Whether to purge all namespaces.
    """
    any_robot: bool | None = None
    """
    Whether memories of any robot may be purged.
    """
    before: AwareDatetime
    """
    Memories that were forgotten before this time.
    """
    confirm: bool | None = None
    """
    The act is refused without it.
    """
    dry_run: bool | None = None
    """
    Answers with the counts, and deletes nothing.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    robot: str | None = None
    """
    The robot that purges what it remembered. Default: the server's.
    """


class QueueMinute(BaseModel):
    """
    The jobs of a queue that ended in one minute.
    """

    dead: int
    """
    Jobs that became dead letters, and still are.
    """
    done: int
    """
    Jobs that were done. Pruned ones are not counted.
    """
    median_ms: float | None = None
    """
    The median time from when a job was due until it was done, in milliseconds; none if none was done.
    """
    minute: AwareDatetime
    """
    The start of the minute.
    """
    p95_ms: float | None = None
    """
    The same for the slowest twentieth of them.
    """
    queue: str
    """
    The queue.
    """


class QueueStats(BaseModel):
    """
    A queue as an operator sees it.
    """

    backfill: int
    """
    Backfill jobs among those that are not ended.
    """
    dead: int
    """
    Dead letters.
    """
    done: int
    """
    Jobs that are done, and not pruned yet.
    """
    due: int
    """
    Jobs that can be claimed.
    """
    held: str | None = None
    """
    The reason why nothing is claimed at the moment although it is not paused: the database refuses the results, or
    calls to the model's provider are held.
    """
    held_until: AwareDatetime | None = None
    """
    The end of that hold.
    """
    model: str | None = None
    """
    The label of the model that its jobs are for; none before one is registered, and for learning.
    """
    oldest_due_ms: int | None = None
    """
    The time for which the longest due job has been due, in milliseconds; none if none is due.
    """
    parked: int
    """
    Jobs that wait for a budget or for an operator.
    """
    paused: str | None = None
    """
    The reason of its pause; none if it is not paused.
    """
    paused_at: AwareDatetime | None = None
    """
    The time of its pause.
    """
    queue: str
    """
    Its name.
    """
    refused: str | None = None
    """
    The database's error, if it refuses the results at the moment.
    """
    running: int
    """
    Jobs that are held by a worker.
    """
    waiting: int
    """
    Jobs that wait for their next attempt.
    """
    workers: int
    """
    Live workers.
    """


class Quota(BaseModel):
    """
    The quota of a namespace.
    """

    max_bytes: int | None = None
    """
    The most bytes of their texts. None: no limit.
    """
    max_memories: int | None = None
    """
    The most live memories. None: no limit.
    """
    requests_per_minute: int | None = None
    """
    The most requests a minute to servers, of all callers that are bound to the namespace. None: no limit.
    """


class QuotaUse(BaseModel):
    """
    The use of a namespace's quota.
    """

    bytes: int
    """
    The bytes of their texts.
    """
    memories: int
    """
    The live memories.
    """


class RankingChoice(BaseModel):
    """
    A change of the version that orders the hits.
    """

    chosen_at: AwareDatetime
    """
    When it was chosen.
    """
    chosen_by: str
    """
    The person or program that chose it.
    """
    former: int
    """
    The version before.
    """
    reason: str
    """
    The reason.
    """
    version: int
    """
    The version since then; 0 is the default ranking.
    """


class RankingComparison(BaseModel):
    """
    How two rankings compare on live recalls.
    """

    by_chance: float | None = None
    """
    The probability of a difference at least as large by chance, if both were equally good: a two-sided sign test.
    """
    differing: int
    """
    Of these, those on which it would have shown other hits among the first ten, or another order.
    """
    interleaved: int
    """
    Interleaved recalls that were judged.
    """
    losses: int
    """
    Those with fewer.
    """
    shadowed: int
    """
    Recalls on which it ran in the shadow.
    """
    verdict: str
    """
    The verdict, for people.
    """
    version: int
    """
    The tried version.
    """
    wins: int
    """
    Of these, those with more used hits of the tried version.
    """


class RankingFigures(BaseModel):
    """
    The evaluation of a ranking, on recalls that it was not fitted to.
    """

    authors: Annotated[int, Field(ge=0)]
    """
    Their authors.
    """
    blocks: Annotated[int, Field(ge=0)]
    """
    Their blocks: an author's recalls of an hour each.
    """
    confidence: float
    """
    The confidence of the interval, such as 0.95.
    """
    gain_high: float
    """
    Its upper end.
    """
    gain_low: float
    """
    The lower end of the bootstrap interval of the gain in nDCG.
    """
    judged: Annotated[int, Field(ge=0)]
    """
    The judged recalls that it was learnt from.
    """
    ndcg: float
    """
    nDCG at ten of the learnt ranking.
    """
    ndcg_default: float
    """
    nDCG at ten of the default ranking on these.
    """
    recall: float
    """
    Recall at ten of the learnt ranking.
    """
    recall_default: float
    """
    Recall at ten of the default ranking.
    """
    tested_on: Annotated[int, Field(ge=0)]
    """
    The recalls of blocks that were left out of a fit, on which it was evaluated.
    """


class RankingWeight(BaseModel):
    """
    A feature's weight.
    """

    about: str
    """
    The feature in words.
    """
    by_default: float
    """
    Its weight by default: what it adds to a score at most, about.
    """
    feature: str
    """
    The feature.
    """
    weight: float
    """
    Its weight in this ranking.
    """


class Receipt(BaseModel):
    """
    The receipt of a write.
    """

    node: int
    """
    The node.
    """
    outcome: Literal['written', 'existing', 'repeated']
    """
    The outcome.
    """
    seq: int | None = None
    """
    The position in its conversation, if the write chose it: the memory continues it.
    """


class Refreshed(BaseModel):
    """
    The number of memories whose time to live was started again.
    """

    refreshed: Annotated[int, Field(ge=0)]
    """
    0 for a memory without a time to live.
    """


class RemoveFromGroup(BaseModel):
    """
    A memory to remove from a group's working memory.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    membership: UUID
    """
    The membership.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    node: int
    """
    The id of the memory.
    """


class RemoveSynonym(Change):
    """
    A synonym to remove.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    name: str
    """
    The other name.
    """


class RemoveTag(Change):
    """
    A tag to remove.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    assigned: bool | None = None
    """
    Whether the memories that have it lose it. Otherwise such a tag is kept.
    """
    tag: str
    """
    The tag.
    """


class Removed(BaseModel):
    """
    The numbers of removed rows.
    """

    embeddings: Annotated[int, Field(ge=0)]
    """
    Their embeddings, of all models.
    """
    jobs: Annotated[int, Field(ge=0)]
    """
    Their jobs.
    """
    nodes: Annotated[int, Field(ge=0)]
    """
    Nodes.
    """
    tags: Annotated[int, Field(ge=0)]
    """
    Assignments of tags to them.
    """


class RemovedFromGroup(BaseModel):
    """
    The number of removed memories.
    """

    removed: Annotated[int, Field(ge=0)]
    """
    Memories that left the working memory. Long-term memory is unchanged.
    """


class RemovedNodes(BaseModel):
    """
    The number of removed memories.
    """

    removed: Annotated[int, Field(ge=0)]
    """
    Memories that left the working memory. Long-term memory is unchanged.
    """


class RenameTag(Change):
    """
    A new name of a tag.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    tag: str
    """
    The tag.
    """
    to: str
    """
    Its new name.
    """


class Replaced(BaseModel):
    """
    A conversation to replace.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    expected: list[int] | None = None
    """
    The memories that it has to have, in any order: with others it is 409 `revision_conflict`, and nothing is done.
    None are expected of a new one. Default: any.
    """
    namespace: str | None = None
    """
    Its namespace. Default: the server's.
    """
    session: str
    """
    The conversation.
    """


class Reset(BaseModel):
    """
    The effect of a reset.
    """

    jobs: Annotated[int, Field(ge=0)]
    """
    Jobs that are due again.
    """


class Restored(BaseModel):
    """
    The receipt of a restore.
    """

    jobs: Annotated[int, Field(ge=0)]
    """
    Jobs enqueued for missing results.
    """
    node: int
    """
    The node.
    """


class Restoring(BaseModel):
    """
    The robot that restores.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    any_robot: bool | None = False
    """
    Whether a memory of any robot may be restored.
    """
    namespace: str | None = None
    """
    The namespace of the robot that restores. Default: the server's.
    """
    robot: str | None = None
    """
    The robot that restores: it may restore what it remembered. Default: the server's.
    """


class Retention(BaseModel):
    """
    The retention policy of a namespace.
    """

    forget_after_seconds: int | None = None
    """
    The age in seconds at which a memory is forgotten, counted from when it happened, was remembered or was
    restored, whichever is latest. None: never.
    """
    purge_after_seconds: int | None = None
    """
    The time in seconds from forgetting to deletion. None: never.
    """


class RetentionPlan(BaseModel):
    """
    The effect of a new policy at the next sweep.
    """

    to_forget: int
    """
    Live memories that are too old.
    """
    to_purge: int
    """
    Memories that were forgotten too long ago.
    """


class Retire(BaseModel):
    """
    The model to retire.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    drop: bool | None = None
    """
    Whether its vectors are deleted too.
    """
    label: str
    """
    Its label.
    """


class RetiredModel(BaseModel):
    """
    The effect of a retirement.
    """

    deleted_jobs: Annotated[int, Field(ge=0)]
    """
    Deleted jobs of the model.
    """


class Retried(BaseModel):
    """
    The result of a retry.
    """

    outdated: int
    """
    Jobs left as they are, because their node was forgotten or edited since.
    """
    over_budget: int
    """
    Of the jobs that are due again, those whose namespace has spent its budget for today: they are parked again.
    """
    retried: int
    """
    Jobs that are due again.
    """


class RevertBody(BaseModel):
    """
    The namespace whose ranking is reverted.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """


class RevertChange(Change):
    """
    A change to revert.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    id: int
    """
    Its number in the log.
    """


class Revision(BaseModel):
    """
    A version of a node's text.
    """

    author: str
    """
    The robot that wrote it, by its name at that time.
    """
    content: str
    """
    The text.
    """
    revision: int
    """
    Its number, from 1.
    """
    written_at: AwareDatetime
    """
    When it was written.
    """


class RobotChange(BaseModel):
    """
    A change of a robot: its name, its metadata or its budget.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    max_tokens: Annotated[int | None, Field(ge=0)] = None
    """
    The token budget of its working memory.
    """
    metadata: dict[str, Any] | None = None
    """
    Entries of its metadata to set; null removes one.
    """
    name: str | None = None
    """
    Its new name.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """


class RobotInfo(BaseModel):
    """
    A registered robot.
    """

    created_at: AwareDatetime
    """
    When it was registered.
    """
    id: int
    """
    Its number, which rows refer to.
    """
    last_active: AwareDatetime | None = None
    """
    When it remembered or recalled last, to the minute. Saved in the background.
    """
    max_tokens: Annotated[int | None, Field(ge=0)] = None
    """
    The token budget of its working memory; none: the default of the program that opens it
    (`Settings::working_memory_tokens`).
    """
    metadata: Any
    """
    The metadata, a JSON object.
    """
    name: str
    """
    Its name, unique in its namespace.
    """
    namespace: str
    """
    Its namespace.
    """
    uuid: UUID
    """
    Its identity, independent of its name.
    """


class RobotStatistics(RobotInfo):
    """
    A robot with its statistics.
    """

    first_memory: AwareDatetime | None = None
    """
    When its first live memory happened.
    """
    forgotten: int
    """
    Its forgotten nodes.
    """
    groups: list[str]
    """
    Its groups.
    """
    in_working_memory: int
    """
    Live nodes in its saved working memory.
    """
    last_memory: AwareDatetime | None = None
    """
    When its last live memory happened.
    """
    nodes: int
    """
    Its live nodes.
    """
    repeats: int
    """
    Its repeats of existing memories.
    """
    tokens: int
    """
    Their tokens.
    """
    working_memory_tokens: int
    """
    Their tokens.
    """


class ScorePart(BaseModel):
    """
    A part of the value that orders a hit.
    """

    name: str
    """
    `vector` (the similarity, normalised and weighted), `words` (BM25, normalised and weighted, corrected for
    length), `together` (adjacent words, as in the query), `exact` (exact terms as written), `neighbours` (negative
    if they are below average), `speaker`, `time`. Of relevance, its signals; of several lists, the share of each: a
    model, `query`, `phrasing 1`; of re-ranked hits, `re-ranker`.
    """
    score: float
    """
    Its contribution.
    """


class Scores(BaseModel):
    """
    The scores of a hit. Larger is better; ranks count from 1. A query that is only a time has none.
    """

    relevance: float | None = None
    """
    Its relevance, 0 to 1, which orders the hits with boosted tags or requested weights; otherwise none.
    """
    reranked: float | None = None
    """
    The re-ranker's score, on its own scale, which orders the re-ranked hits.
    """
    score: float
    """
    The score, 0 to 1. The best hit has its similarity, its `text_share`, or both by the
    vectors' weight. The scores of the other hits are in proportion to the values that order them, whose parts are
    in `Explanation`. Of several models or phrasings, it is the best that a list gives the hit.
    """
    similarity: float | None = None
    """
    Cosine similarity, -1 to 1; none while the node's embedding is pending.
    """
    stale: bool
    """
    Whether the similarity is that of a former text, because the node was edited and its new embedding is pending.
    """
    tags: float | None = None
    """
    Its share of the boosted tags, 0 to 1; none without boosted tags.
    """
    text: float | None = None
    """
    BM25, from 0, including adjacent words and exact terms.
    """
    text_rank: int | None = None
    """
    Its rank among the text candidates.
    """
    text_share: float | None = None
    """
    `text` as a share of the highest possible score for this query, 0 to 1: comparable between
    queries.
    """
    vector_rank: int | None = None
    """
    Its rank among the vector candidates.
    """


class SelectionBody(BaseModel):
    """
    Jobs, by their ids or by conditions.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    confirm: bool | None = False
    """
    More than one job is cancelled only with it.
    """
    error: str | None = None
    """
    A part of their last error, in upper or lower case.
    """
    ids: list[str] | None = None
    """
    The jobs with these ids; the conditions must be empty then.
    """
    namespace: str | None = None
    """
    The namespace of their memories.
    """
    node: int | None = None
    queue: str | None = None
    """
    The queue.
    """
    state: Literal['due', 'waiting', 'parked', 'running', 'done', 'dead'] | None = None


class ShutDown(BaseModel):
    """
    The effect of a shutdown.
    """

    members: Annotated[int, Field(ge=0)]
    """
    Memberships that ended.
    """


class Shutdown(BaseModel):
    """
    The fate of the working memory of a group that is shut down.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    clear: bool | None = False
    """
    Whether its working memory is emptied. Long-term memory is unchanged.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """


class SimilarTag(BaseModel):
    """
    A tag with a similar name.
    """

    similarity: float
    """
    The trigram similarity, 0.3 to 1, of its name, its last level or a synonym.
    """
    tag: str
    """
    The tag.
    """


class StageState1(BaseModel):
    """
    Its job waits.
    """

    attempts: int
    """
    Attempts made.
    """
    due_at: AwareDatetime | None = None
    """
    When it is due.
    """
    last_error: str | None = None
    """
    The error of the last attempt.
    """
    max_attempts: int
    """
    Attempts allowed.
    """
    state: Literal['pending']


class StageState2(BaseModel):
    """
    Its job is parked.
    """

    last_error: str | None = None
    """
    The error of the last attempt.
    """
    state: Literal['parked']
    until: AwareDatetime | None = None
    """
    When it becomes due by itself; far in the future for `age`.
    """
    why: Literal['budget', 'age']
    """
    The reason.
    """


class StageState3(BaseModel):
    """
    A worker holds it.
    """

    attempt: int
    """
    The number of the attempt, from 1.
    """
    state: Literal['running']
    worker: str
    """
    The worker's identity.
    """


class StageState4(BaseModel):
    """
    It is done.
    """

    after_ms: float
    """
    Milliseconds from the write of the text.
    """
    at: AwareDatetime
    """
    When it was done.
    """
    attempt: int
    """
    The number of the attempt.
    """
    model: str
    """
    The model.
    """
    outcome: str
    """
    The outcome, such as `embedded`, `embedded in 3 parts` or `3 tags`.
    """
    state: Literal['done']
    worker: str
    """
    The worker.
    """


class StageState5(BaseModel):
    """
    A dead letter.
    """

    attempts: int
    """
    Attempts made.
    """
    error: str
    """
    The error of the last attempt.
    """
    state: Literal['dead']


class StageState6(BaseModel):
    """
    The vectors of the active model come from callers, and none was given for the current text.
    """

    state: Literal['awaited']


class StageState7(BaseModel):
    """
    No completion and no job: the pipeline lost it. `htm doctor` counts these; there should be none.
    """

    state: Literal['stranded']


class StageState(
    RootModel[StageState1 | StageState2 | StageState3 | StageState4 | StageState5 | StageState6 | StageState7]
):
    root: StageState1 | StageState2 | StageState3 | StageState4 | StageState5 | StageState6 | StageState7
    """
    The state of a stage.
    """


class StageStatus1(BaseModel):
    """
    Its job waits.
    """

    attempts: int
    """
    Attempts made.
    """
    due_at: AwareDatetime | None = None
    """
    When it is due.
    """
    last_error: str | None = None
    """
    The error of the last attempt.
    """
    max_attempts: int
    """
    Attempts allowed.
    """
    state: Literal['pending']


class StageStatus2(BaseModel):
    """
    Its job is parked.
    """

    last_error: str | None = None
    """
    The error of the last attempt.
    """
    state: Literal['parked']
    until: AwareDatetime | None = None
    """
    When it becomes due by itself; far in the future for `age`.
    """
    why: Literal['budget', 'age']
    """
    The reason.
    """


class StageStatus3(BaseModel):
    """
    A worker holds it.
    """

    attempt: int
    """
    The number of the attempt, from 1.
    """
    state: Literal['running']
    worker: str
    """
    The worker's identity.
    """


class StageStatus4(BaseModel):
    """
    It is done.
    """

    after_ms: float
    """
    Milliseconds from the write of the text.
    """
    at: AwareDatetime
    """
    When it was done.
    """
    attempt: int
    """
    The number of the attempt.
    """
    model: str
    """
    The model.
    """
    outcome: str
    """
    The outcome, such as `embedded`, `embedded in 3 parts` or `3 tags`.
    """
    state: Literal['done']
    worker: str
    """
    The worker.
    """


class StageStatus5(BaseModel):
    """
    A dead letter.
    """

    attempts: int
    """
    Attempts made.
    """
    error: str
    """
    The error of the last attempt.
    """
    state: Literal['dead']


class StageStatus6(BaseModel):
    """
    The vectors of the active model come from callers, and none was given for the current text.
    """

    state: Literal['awaited']


class StageStatus7(BaseModel):
    """
    No completion and no job: the pipeline lost it. `htm doctor` counts these; there should be none.
    """

    state: Literal['stranded']


class StageStatus8(BaseModel):
    """
    A stage of a node.
    """

    stage: Literal['embed', 'tag']
    """
    The stage.
    """
    stale: int | None = None
    """
    The revision whose result is used until the edited text has its own.
    """


class StageStatus9(StageStatus1, StageStatus8):
    """
    A stage of a node.
    """


class StageStatus10(StageStatus2, StageStatus8):
    """
    A stage of a node.
    """


class StageStatus11(StageStatus3, StageStatus8):
    """
    A stage of a node.
    """


class StageStatus12(StageStatus4, StageStatus8):
    """
    A stage of a node.
    """


class StageStatus13(StageStatus5, StageStatus8):
    """
    A stage of a node.
    """


class StageStatus14(StageStatus6, StageStatus8):
    """
    A stage of a node.
    """


class StageStatus15(StageStatus7, StageStatus8):
    """
    A stage of a node.
    """


class Stranded(BaseModel):
    """
    A stage of a live node without a result, a job or a dead letter.
    """

    lost: Literal['job', 'vector']
    """
    The missing part.
    """
    namespace: str
    """
    Its namespace.
    """
    node: int
    """
    The node.
    """
    revision: int
    """
    Its revision.
    """
    stage: Literal['embed', 'tag']
    """
    The stage without a result.
    """


class Successor(BaseModel):
    """
    A memory that supersedes another one.
    """

    created_at: AwareDatetime
    """
    When it happened.
    """
    excerpt: str
    """
    The first 100 characters of its text.
    """
    made_at: AwareDatetime
    """
    When the relation was set.
    """
    node: int
    """
    Its id.
    """
    reason: str | None = None
    """
    The reason, if one was given.
    """


class Superseded(BaseModel):
    """
    A memory, and those that supersede it.
    """

    node: int
    """
    The superseded memory.
    """
    superseded_by: list[Successor]
    """
    The memories that supersede it, the last set first.
    """


class Synonym(BaseModel):
    """
    A synonym.
    """

    name: str
    """
    The synonym.
    """
    tag: str
    """
    The tag.
    """


class TableSize(BaseModel):
    """
    The disk space of a table.
    """

    index_bytes: int
    """
    Bytes of its indexes.
    """
    name: str
    """
    Its name, with its schema.
    """
    rows: int | None = None
    """
    The approximate number of rows, by the last ANALYZE; none before the first.
    """
    table_bytes: int
    """
    Bytes of the rows, including long values.
    """


class TagPair(Change):
    """
    Two tags that are marked as distinct, or no longer.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    other: str
    """
    The other one.
    """
    tag: str
    """
    One of them.
    """


class TagUse(BaseModel):
    """
    A tag with its counts.
    """

    created_at: AwareDatetime
    """
    When it was registered.
    """
    description: str | None = None
    """
    Its description.
    """
    distinct_from: list[str]
    """
    Tags declared distinct from it. A pair is on one of its tags.
    """
    last_used: AwareDatetime | None = None
    """
    When it was assigned last.
    """
    nodes: int
    """
    Live nodes that have it.
    """
    split_into: list[str]
    """
    The tags that replace it after a split.
    """
    tag: str
    """
    The tag.
    """
    total: int
    """
    Live nodes that have it or one below it, each counted once.
    """


class TaggedNode(BaseModel):
    """
    A node that has a tag.
    """

    content: str
    """
    Its text.
    """
    node: int
    """
    The node.
    """


class TaggedNodes(BaseModel):
    """
    A page of a tag's memories, the newest first.
    """

    next: int | None = None
    nodes: list[TaggedNode]


class TermBody(BaseModel):
    """
    A tag.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    description: str | None = None
    """
    Its description. Not given: it stays; empty: it is removed.
    """
    synonyms: list[str] | None = None
    """
    Its synonyms.
    """
    tag: str
    """
    The tag, in any spelling.
    """


class TimeCount(BaseModel):
    """
    The number of memories in one step of time.
    """

    memories: int
    """
    The memories.
    """
    name: str | None = None
    """
    The robot or the tag; none: not divided.
    """
    start: AwareDatetime
    """
    The start of the step.
    """


class TimePhrase(BaseModel):
    """
    A time phrase that was taken from a query's text.
    """

    phrase: str
    """
    The phrase.
    """
    query: str
    """
    The query without it; empty if the query was only a time.
    """


class TimeRange(BaseModel):
    """
    A range from an instant (inclusive) until another one (exclusive). A side that is none is open. Never empty.
    """

    from_: Annotated[AwareDatetime | None, Field(alias='from')] = None
    until: AwareDatetime | None = None


class TimelineBody(BaseModel):
    """
    The query of a timeline.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    as_of: str | None = None
    """
    As the memory stood at this time: a date, an RFC 3339 time, or words. Default: now.
    """
    correct: bool | None = None
    """
    Whether unknown words of the topic are spell-corrected. Default: true.
    """
    filter: FilterBody | None = None
    """
    The memories of the timeline.
    """
    limit: Annotated[int | None, Field(ge=0)] = None
    """
    The most memories, 1 to 10,000: the most relevant to the topic, or the latest without one. Default: 20.
    """
    strategy: Literal['vector', 'fulltext', 'hybrid', 'auto'] | None = None
    topic: str | None = None
    """
    The topic. Default: everything.
    """


class TokenUsage(BaseModel):
    """
    The tokens of the memories of a namespace that a model has processed last on one day.
    """

    day: date
    """
    The day (UTC).
    """
    jobs: int
    """
    The memories whose last result is of that day. One that was purged or erased since is not counted.
    """
    model: str
    """
    The model's label.
    """
    namespace: str
    """
    The namespace.
    """
    stage: Literal['embed', 'tag']
    """
    The stage of the calls.
    """
    tokens: int
    """
    The tokens of their memories' texts, as budgets count them. Prompts and answers are not counted.
    """


class Totals(BaseModel):
    """
    Sums over the nodes.
    """

    forgotten: int
    """
    Forgotten nodes.
    """
    newest: AwareDatetime | None = None
    """
    When the last live memory happened.
    """
    nodes: int
    """
    Live nodes.
    """
    oldest: AwareDatetime | None = None
    """
    When the first live memory happened.
    """
    tokens: int
    """
    Their tokens.
    """


class Transfer(BaseModel):
    """
    The target of memories of a group's working memory.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    nodes: list[int] | None = None
    """
    These memories. Default: all.
    """
    to_group: str | None = None
    """
    To the working memory of this group,
    """
    to_robot: str | None = None
    """
    or to that of this robot.
    """


class TransferByMember(BaseModel):
    """
    The target of memories of a member's group.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    membership: UUID
    """
    The membership.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    nodes: list[int] | None = None
    """
    These memories. Default: all.
    """
    to_group: str | None = None
    """
    To the working memory of this group,
    """
    to_robot: str | None = None
    """
    or to that of this robot.
    """


class TransferReceipt(BaseModel):
    """
    The receipt of a transfer.
    """

    evicted: list[int]
    """
    Nodes evicted from the target.
    """
    transferred: list[int]
    """
    The moved nodes.
    """


class TryBody(BaseModel):
    """
    The version to try on live recalls.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    kind: Literal['shadow', 'interleaved'] | None = None
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    version: int | None = None
    """
    The version; null ends the trial.
    """


class UnknownName(BaseModel):
    """
    A name in a filter that nothing has.
    """

    kind: Literal['namespace', 'robot', 'tag']
    """
    The kind of thing that the name was expected to be of.
    """
    name: str
    """
    The name.
    """
    nearest: list[str]
    """
    Similar names that there are, the nearest first; of several namespaces, those of one after those of another.
    """


class UnloadedDocuments(BaseModel):
    """
    The result of unloading documents.
    """

    documents: list[str]
    """
    The paths of the documents.
    """
    forgotten: Annotated[int, Field(ge=0)]
    """
    Their passages that were forgotten.
    """


class Unverified(BaseModel):
    """
    The reason why a context could not be compared with long-term memory.
    """

    code: str
    """
    The stable code of the reason.
    """
    reason: str
    """
    The reason, for people.
    """


class Vacuumed(BaseModel):
    """
    How the space of removed rows was freed.
    """

    at: AwareDatetime
    """
    When.
    """
    not_permitted: list[str]
    """
    The tables that the program's role may not vacuum. Autovacuum does it later.
    """
    older_transactions: int | None = None
    """
    The older transactions that were open: vacuum frees nothing that one of them may still read. Null: the program's
    role cannot see those of other roles.
    """
    tables: list[str]
    """
    The vacuumed tables.
    """


class VectorSet(BaseModel):
    """
    The receipt of a vector that was brought later.
    """

    model: str
    """
    The label of the model.
    """
    node: int
    """
    The node.
    """
    revision: int
    """
    The revision of its text.
    """


class Verifying(BaseModel):
    """
    A text to look for besides the numbers of the erased memories.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    text: str | None = None
    """
    A text, looked for in every column of every table. It is kept nowhere. Only with a key for all namespaces.
    """


class Worker(BaseModel):
    """
    A worker process of a queue.
    """

    alive: bool
    """
    Whether that is within its lease.
    """
    detail: str
    """
    Its program, version and model.
    """
    id: str
    """
    Its identity.
    """
    jobs: int
    """
    The number of jobs that it holds.
    """
    last_seen: AwareDatetime
    """
    Its last heartbeat.
    """
    queue: str
    """
    The queue it serves.
    """
    started_at: AwareDatetime | None = None
    """
    The time of its registration.
    """
    unseen_ms: int
    """
    The time since then, in milliseconds.
    """


class WorkingMemoryStats(BaseModel):
    """
    The utilisation of a working memory.
    """

    max_tokens: Annotated[int, Field(ge=0)]
    """
    The token budget.
    """
    nodes: Annotated[int, Field(ge=0)]
    """
    Nodes in it.
    """
    tokens: Annotated[int, Field(ge=0)]
    """
    Their tokens.
    """
    utilisation: float
    """
    The used share of the budget, 0 to 1.
    """


class WorkingMemoryUse(BaseModel):
    """
    The utilisation of a robot's working memory.
    """

    max_tokens: int
    """
    Its token budget: the robot's own, otherwise the handle's.
    """
    namespace: str
    """
    The robot's namespace.
    """
    nodes: int
    """
    Live nodes in it.
    """
    robot: str
    """
    Its name.
    """
    tokens: int
    """
    Their tokens.
    """
    utilisation: float
    """
    The used share of the budget, 0 to 1; more if the budget was lowered.
    """


class WouldEnqueue(BaseModel):
    """
    The result of a dry run.
    """

    would_enqueue: Annotated[int, Field(ge=0)]
    """
    Jobs that would be enqueued now.
    """


class AddNodes(BaseModel):
    """
    Memories to add to a working memory.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    nodes: list[int]
    """
    The ids of the memories. Of equally important ones, the last is evicted last.
    """


class AddSynonym(Change):
    """
    A synonym of a tag.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    name: str
    """
    The other name.
    """
    tag: str
    """
    The tag.
    """


class AddTags(Change):
    """
    Tags to add or to describe.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    tags: list[TermBody]
    """
    The tags.
    """


class AddToGroup(BaseModel):
    """
    Memories to add to a group's working memory.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    membership: UUID
    """
    The membership.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    nodes: list[int]
    """
    The ids of the memories. Of equally important ones, the last is evicted last.
    """


class ApiKey(BaseModel):
    """
    A key, without its secret part.
    """

    created_at: AwareDatetime
    """
    When it was created.
    """
    expires_at: AwareDatetime | None = None
    """
    When it expires. Null: never.
    """
    id: str
    """
    Its visible part, and its name in lists and logs.
    """
    last_used_at: AwareDatetime | None = None
    """
    When it was used last, to the minute. Null: never.
    """
    name: str | None = None
    """
    A name for people.
    """
    namespaces: list[str] | None = None
    """
    Its namespaces; `tenant-7/*` stands for every namespace below `tenant-7`. Null: all.
    """
    requests_per_minute: int | None = None
    """
    The most requests a minute, over all servers. Null: no limit.
    """
    revoked_at: AwareDatetime | None = None
    """
    When it was revoked. Null: it was not.
    """
    robot: str | None = None
    """
    The robot of its requests. Null: each request names its own.
    """
    role: Literal['reader', 'writer', 'admin']
    """
    The role of its holder.
    """


class Audit(BaseModel):
    """
    The result of an audit.
    """

    awaiting_rescue: int
    """
    Running jobs of workers that have not been seen for their lease; any worker takes them back.
    """
    dead_letters: int
    """
    Dead letters. A dead letter says why a node lacks its result, so the node is not stranded.
    """
    states_guarded: bool
    """
    Whether the jobs table refuses jobs in an impossible state.
    """
    stranded: list[Stranded]
    """
    Nodes that lack a result and have no job for it. If there are any, the pipeline has lost something.
    """
    unheld: int
    """
    Running jobs that are assigned to a live worker which does not hold them; the worker gives them back. There are
    none, except for a moment after a database error.
    """


class BackfillRun(BaseModel):
    """
    A run of a backfill.
    """

    cancelled: bool
    """
    Whether it was cancelled, or its model retired.
    """
    enqueued: int
    """
    Jobs enqueued so far.
    """
    examined: int
    """
    The last examined node.
    """
    finished_at: AwareDatetime | None = None
    """
    When all of its jobs were enqueued, or it was cancelled.
    """
    forced: bool
    """
    Also nodes whose stage is done.
    """
    id: int
    """
    Its number.
    """
    last: int
    """
    The last node to examine.
    """
    max_queued: int | None = None
    """
    The most backfill jobs that wait in the queue; none: a program goes on with the run, and no server.
    """
    model: str
    """
    The model of its jobs.
    """
    namespace: str | None = None
    """
    Only this namespace; none: all.
    """
    prompt_version: str | None = None
    """
    Only nodes that another version of the prompt or the rules, or another model, has tagged.
    """
    queue: str
    """
    Their queue.
    """
    since: AwareDatetime | None = None
    """
    Only nodes since this time.
    """
    stage: Literal['embed', 'tag']
    """
    The stage of its jobs.
    """
    started_at: AwareDatetime
    """
    When it was started.
    """


class Backfills(BaseModel):
    """
    Runs of backfills.
    """

    backfills: list[BackfillRun]
    """
    The newest first.
    """
    next: int | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class Changed(BaseModel):
    """
    The receipt of a change, or of its dry run.
    """

    added: list[str]
    """
    New tags.
    """
    change: int | None = None
    """
    Its number in the log; none for a dry run or if nothing changed.
    """
    described: list[str]
    """
    Tags with a new description, split or distinction.
    """
    dry_run: bool
    """
    Whether it was a dry run.
    """
    freed: list[str]
    """
    Removed synonyms.
    """
    jobs: int
    """
    Jobs that will tag nodes again.
    """
    kept: list[str]
    """
    Tags of the reverted change that stay because they are in use.
    """
    kind: Literal['add', 'import', 'template', 'remove', 'rename', 'merge', 'split', 'add_synonym', 'remove_synonym', 'mark_distinct', 'unmark_distinct', 'revert']
    """
    Its kind.
    """
    moved: list[Moved]
    """
    Renamed or merged tags.
    """
    namespace: str
    """
    The namespace.
    """
    nodes: int
    """
    Nodes with changed or renamed tags, including forgotten ones.
    """
    removed: list[str]
    """
    Removed tags.
    """
    synonyms: list[Synonym]
    """
    New synonyms.
    """


class Changes(BaseModel):
    """
    A page of changes.
    """

    changes: list[LoggedChange]
    next: int | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class Chosen(BaseModel):
    """
    A strategy that was chosen by the query.
    """

    reason: Literal['phrase', 'question', 'prefix', 'exact_terms', 'words']
    """
    The reason.
    """
    strategy: Literal['vector', 'fulltext', 'hybrid', 'auto']
    """
    The strategy.
    """


class ContextBody(BaseModel):
    """
    The text for a prompt.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    correct: bool | None = None
    """
    Whether unknown words of the query are spell-corrected. Default: true.
    """
    filter: FilterBody | None = None
    """
    The memories of the context, and of the query.
    """
    header: bool | None = None
    """
    Whether each memory has a line with its age, its source, and the memory that supersedes it.
    """
    limit: Annotated[int | None, Field(ge=0)] = None
    """
    The most hits of the query. Default: 20.
    """
    max_tokens: Annotated[int | None, Field(ge=1, le=1000000)] = None
    """
    The most tokens of the text, 1 to 1,000,000. Default: 4,000.
    """
    order: str | None = None
    """
    The order of the memories after the hits: recent, important, frequent, balanced. Default: balanced.
    """
    query: str | None = None
    """
    Recalls this first: the hits enter the working memory, and come first in the text, the best one first. Needs a
    writer's key.
    """
    robot: str
    """
    The robot whose working memory it is. A query registers a new one.
    """
    separator: Annotated[str | None, Field(max_length=1024)] = None
    """
    The separator between two memories, up to 1,024 characters. Default: an empty line.
    """
    strategy: Literal['vector', 'fulltext', 'hybrid', 'auto'] | None = None


class Conversation(BaseModel):
    """
    A conversation: messages in their order.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    expires_at: AwareDatetime | None = None
    """
    When the memories expire. Default: never.
    """
    first_seq: int | None = None
    """
    The position of the first message. Default: the one after the conversation's last message, or 0.
    """
    messages: list[Message]
    """
    The messages, at most 1,000.
    """
    metadata: dict[str, Any] | None = None
    """
    Metadata of every message: at most 1 MiB for all messages together.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    robot: str | None = None
    """
    The robot that remembers. Default: the server's.
    """
    session: str | None = None
    """
    The conversation's name. Default: a new one.
    """
    source: str | None = None
    """
    Its source: a file, a chat, a URL.
    """
    tags: list[str] | None = None
    """
    Tags of every message.
    """
    ttl_seconds: Annotated[int | None, Field(ge=0)] = None
    """
    Instead of `expires_at`: the seconds from now to their expiry.
    """


class Counts(BaseModel):
    """
    A list of groups of nodes.
    """

    distinct: int
    """
    The number of groups.
    """
    top: list[GroupCount]
    """
    The groups with the most nodes.
    """


class CountsBody(BaseModel):
    """
    The query of counts over time.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    by: Literal['time', 'robot', 'tag'] | None = None
    """
    The division of each step. Default: none.
    """
    filter: FilterBody | None = None
    """
    The counted memories.
    """
    limit: Annotated[int | None, Field(ge=0)] = None
    """
    The most counts, 1 to 10,000. Default: 1,000.
    """
    step: Literal['year', 'month', 'week', 'day', 'hour', 'minute']
    """
    The step of time, in UTC.
    """


class CreatedApiKey(ApiKey):
    """
    A new key. Its text cannot be read again.
    """

    secret: str
    """
    The whole key, for the header `Authorization: Bearer …`.
    """


class Degraded(BaseModel):
    """
    A step that did not run.
    """

    code: str
    """
    The stable code of the reason.
    """
    hint: str
    """
    The next step: the error's hint. Programs may name their own command instead.
    """
    reason: str
    """
    The reason, for people.
    """
    step: Literal['vector', 'rerank', 'expansion']
    """
    The step.
    """


class DistinctTags(BaseModel):
    """
    Two tags declared distinct.
    """

    other: str
    """
    The other one.
    """
    tag: str
    """
    One of them.
    """


class DocumentAnswer(LoadedDocument):
    """
    The loaded document.
    """

    date_left_out: str | None = None
    """
    The date of the front matter, if it cannot be read.
    """
    front_matter_left_out: str | None = None
    """
    Why the front matter cannot be read, if it cannot. It is no part of the text then.
    """
    pages_left_out: list[PagesLeftOutItem]
    """
    The pages of a PDF that cannot be read.
    """
    tags_left_out: list[str]
    """
    The tags of the front matter that are not valid.
    """


class DocumentInfo(BaseModel):
    """
    A loaded document.
    """

    bytes: Annotated[int, Field(ge=0)]
    """
    The bytes of the file.
    """
    changed_at: AwareDatetime
    """
    When it last changed.
    """
    kind: Literal['markdown', 'text', 'html', 'pdf', 'code']
    """
    Its kind.
    """
    loaded_at: AwareDatetime
    """
    When it was first loaded.
    """
    namespace: str
    """
    Its namespace.
    """
    passages: Annotated[int, Field(ge=0)]
    """
    Its passages that are not forgotten.
    """
    path: str
    """
    Its path.
    """
    tags: list[str]
    """
    The tags that its front matter and its loader gave its passages.
    """
    title: str | None = None
    """
    Its title.
    """


class DocumentPage(BaseModel):
    """
    A page of documents, in the order of their paths.
    """

    documents: list[DocumentInfo]
    next: str | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class DocumentTag(BaseModel):
    """
    A tag of a document.
    """

    description: str | None = None
    """
    Its description.
    """
    distinct_from: list[str] | None = None
    """
    Tags declared distinct from it, sorted. A pair is on one of its tags.
    """
    leftover: Literal['keep', 'first'] | None = None
    """
    The tag of a text that fits none of them.
    """
    split_into: list[str] | None = None
    """
    The tags that replace it after a split.
    """
    synonyms: list[str] | None = None
    """
    Its synonyms, sorted.
    """
    tag: str
    """
    The tag.
    """


class Edited(BaseModel):
    """
    The receipt of an edit.
    """

    changed: list[str]
    """
    The changed fields: `content`, `importance`, `key`, `source`, `type`, `metadata`, `expires`, `tags`. Empty: nothing was
    written.
    """
    jobs: Annotated[int, Field(ge=0)]
    """
    Jobs enqueued for the new text.
    """
    node: int
    """
    The node.
    """
    revision: int
    """
    Its revision now.
    """
    superseded: Annotated[int, Field(ge=0)]
    """
    Jobs of the old text that were ended.
    """


class Enrichment(BaseModel):
    """
    The progress of a stage.
    """

    dead: int
    """
    Dead letters.
    """
    done: int
    """
    Nodes that are done, at their current revision.
    """
    model: str | None = None
    """
    The embedding model; none for tags.
    """
    parked: int
    """
    Parked jobs.
    """
    pending: int
    """
    Due and waiting jobs.
    """
    running: int
    """
    Running jobs.
    """
    stage: Literal['embed', 'tag']
    """
    The stage.
    """


class Entry(BaseModel):
    """
    A node in a working memory.
    """

    accessed_at: AwareDatetime
    """
    When it was last added or touched.
    """
    accesses: Annotated[int, Field(ge=0)]
    """
    The number of times that it was touched or added again.
    """
    added_at: AwareDatetime
    """
    When it was added to this working memory.
    """
    content: str
    """
    Its text.
    """
    happened_at: AwareDatetime
    """
    When it happened.
    """
    importance: float
    """
    The importance, 1 to 10.
    """
    node: int
    """
    The node.
    """
    revision: int
    """
    The revision of the text, from 1.
    """
    source: str | None = None
    """
    The source: a file, a chat, a URL.
    """
    tokens: Annotated[int, Field(ge=0)]
    """
    The number of tokens of the text, by the encoding of contexts.
    """


class EraseMemories(BaseModel):
    """
    The memories to erase: by ids, by a text, or those of a robot.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    confirm: bool | None = None
    """
    The act is refused without it.
    """
    dry_run: bool | None = None
    """
    Answers with the plan, and erases nothing.
    """
    ids: list[int] | None = None
    """
    These memories.
    """
    namespace: str | None = None
    """
    The namespace of the text or the robot. Default: the server's.
    """
    plan: str | None = None
    """
    The plan of a dry run, which a text needs. The act is refused if the memories have changed since.
    """
    robot: str | None = None
    """
    Those that this robot remembered.
    """
    text: str | None = None
    """
    Those whose text, or a former text, contains this.
    """


class Erasure(BaseModel):
    """
    The receipt of an erasure. It has no text of a memory, and no hash of one: whoever can read a hash can test a guess.
    """

    asked_by: str
    """
    The eraser: a key of the API, or the robot of a program.
    """
    began_at: AwareDatetime
    """
    When it began.
    """
    ended_at: AwareDatetime | None = None
    """
    When the last row was removed. Null: it was interrupted, and can be resumed.
    """
    erased: Annotated[int, Field(ge=0)]
    """
    The number of those that are erased.
    """
    id: int
    """
    Its number.
    """
    kind: Literal['memories', 'matching', 'robot', 'namespace']
    """
    The subject.
    """
    memories: Annotated[int, Field(ge=0)]
    """
    The number of memories to erase.
    """
    namespaces: list[str]
    """
    The namespaces of the memories.
    """
    removed: dict[str, RemovedAdditionalProperty]
    """
    The number of removed rows by table.
    """
    robot: str | None = None
    """
    The robot whose memories were erased. Null for another kind.
    """
    vacuum: Vacuumed | None = None
    wal_position: str | None = None
    """
    The end of the write-ahead log after that.
    """


class Erasures(BaseModel):
    """
    Receipts of erasures.
    """

    erasures: list[Erasure]
    """
    The newest first.
    """
    next: int | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class Event(BaseModel):
    """
    An event. Fields that do not concern its kind are left out of the JSON.
    """

    action: str | None = None
    """
    The kind of change: `rename`, `merge` and so on.
    """
    at: AwareDatetime
    """
    When it happened, or for a group when it was seen.
    """
    change: int | None = None
    """
    The number of the change in the log of the ontology.
    """
    error: str | None = None
    """
    Why the job is not retried.
    """
    group: str | None = None
    """
    The group.
    """
    job: str | None = None
    """
    The job.
    """
    kind: Literal['memory.embedded', 'memory.tagged', 'job.dead', 'ontology.changed', 'group.changed', 'relation.set']
    """
    Its kind.
    """
    model: str | None = None
    """
    The label of the embedding model.
    """
    namespace: str
    """
    Where it happened.
    """
    node: int | None = None
    queue: str | None = None
    """
    The queue of the job.
    """
    relation: Literal['supersedes', 'contradicts'] | None = None
    revision: int | None = None
    """
    The revision of its text.
    """
    to: int | None = None
    version: int | None = None
    """
    The version of its working memory.
    """


class Evicted(BaseModel):
    """
    The memories that left a working memory.
    """

    evicted: list[int]
    """
    Memories that no longer fit.
    """


class Explanation(BaseModel):
    """
    The parts of the value that orders a hit. `Scores::score` is in proportion to their sum, unless
    relevance, the ranks in several lists or a re-ranker order the hits.
    """

    parts: list[ScorePart]
    """
    The parts that are not 0.
    """


class Facet(BaseModel):
    """
    A tag of hits.
    """

    hits: Annotated[int, Field(ge=0)]
    """
    The number of hits with it.
    """
    tag: str
    """
    The tag.
    """


class FeedbackBody(BaseModel):
    """
    The memories of a recall that were used, and those that were useless.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    used: list[int] | None = None
    """
    The memories that were used.
    """
    useless: list[int] | None = None
    """
    The memories that were useless.
    """


class FeedbackReceipt(BaseModel):
    """
    The receipt of a feedback.
    """

    judged: int
    """
    Recalls with a used memory so far, of all namespaces that learn together.
    """
    learns: bool
    """
    Whether this feedback has asked for a new ranking.
    """
    not_considered: list[int]
    """
    Named memories that the recall did not consider. Nothing can be learnt of them.
    """
    recall: str
    """
    The recall.
    """
    used: Annotated[int, Field(ge=0)]
    """
    The memories that are recorded as used.
    """
    useless: Annotated[int, Field(ge=0)]
    """
    The memories that are recorded as useless.
    """


class FileReply(BaseModel):
    """
    The reply to a command on files.
    """

    content: str
    """
    The text for the language model.
    """
    nodes: list[int]
    """
    The memories of the files that were read or changed. Empty for a listing.
    """
    revision: int | None = None
    """
    The revision of the file's text. Null for a command on a directory, and for deletions and renames.
    """


class Forgotten(Removed):
    """
    The receipt of a forget.
    """

    forgotten: list[int]
    """
    The forgotten nodes; `htm.restore` brings each back.
    """
    left: list[int]
    """
    Nodes of the plan that were edited or forgotten meanwhile and are left as they are.
    """


class ForgottenNode(BaseModel):
    """
    A node that can be restored.
    """

    deleted_at: AwareDatetime
    """
    When it was forgotten.
    """
    excerpt: str
    """
    The beginning of its text, about 100 characters.
    """
    key: str | None = None
    """
    Its former key.
    """
    namespace: str
    """
    Its namespace.
    """
    node: int
    """
    The node.
    """
    reason: Literal['asked', 'expired', 'retention', 'unloaded']
    """
    Why it was forgotten.
    """
    robot: str
    """
    The robot that remembered it.
    """


class ForgottenPage(BaseModel):
    """
    A page of forgotten memories.
    """

    memories: list[ForgottenNode]
    next: str | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class GroupContext(BaseModel):
    """
    The context of a group.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    filter: FilterBody | None = None
    """
    The memories of the context. Default: the whole working memory.
    """
    header: bool | None = None
    """
    Whether each memory has a line with its age, its source, and the memory that supersedes it.
    """
    max_tokens: Annotated[int | None, Field(ge=1, le=1000000)] = None
    """
    The most tokens of the text, 1 to 1,000,000. Default: 4,000.
    """
    membership: UUID
    """
    The membership.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    order: str | None = None
    """
    The order: recent, important, frequent, balanced. Default: balanced.
    """
    separator: Annotated[str | None, Field(max_length=1024)] = None
    """
    The separator between two memories, up to 1,024 characters. Default: an empty line.
    """


class GroupMemberInfo(BaseModel):
    """
    A member of a group, by the database's clock.
    """

    alive: bool
    """
    Whether it was seen within its lease.
    """
    joined_at: AwareDatetime
    """
    When its current process joined.
    """
    lease_ms: int
    """
    Its lease, in milliseconds.
    """
    robot: str
    """
    The robot's name.
    """
    role: Literal['active', 'passive']
    """
    Its role.
    """
    seen_version: int
    """
    The version of the working memory that it last reported.
    """
    unseen_ms: int
    """
    Milliseconds since it was seen.
    """


class GroupNews(BaseModel):
    """
    The news for a member, by a heartbeat.
    """

    max_tokens: Annotated[int, Field(ge=0)]
    """
    The token budget of the working memory.
    """
    nodes: list[Entry]
    """
    Added and used nodes, in the order in which they were added.
    """
    removed: list[int]
    """
    Removed nodes.
    """
    role: Literal['active', 'passive']
    """
    Its role.
    """
    version: int
    """
    The version of the working memory. An edit of a node is no new version; a context has it.
    """
    whole: bool
    """
    Whether `nodes` are the whole working memory, and not what has changed.
    """


class Heartbeat(BaseModel):
    """
    A heartbeat.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    membership: UUID
    """
    The membership.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    version: int | None = None
    """
    The version of the working memory that the member has. Default: none; the answer has the whole working memory.
    """


class Imported(Changed):
    """
    The receipt of an import, or of its dry run.
    """

    called: list[Synonym]
    """
    Tags of the document that are synonyms here and were replaced by their tags.
    """
    descriptions_kept: list[str]
    """
    Tags that kept a description other than the document's.
    """


class ImportedLine(BaseModel):
    """
    The result of an imported line.
    """

    kind: Literal['header', 'model', 'retention', 'budget', 'limits', 'robot', 'group', 'change', 'name', 'tag', 'memory', 'revision', 'relation', 'document', 'quota', 'learning', 'ranking', 'end']
    """
    The kind of the line.
    """
    node: int | None = None
    outcome: Literal['written', 'existing', 'repeated']
    """
    The outcome.
    """


class Intake(BaseModel):
    """
    The effect of adding nodes to a working memory.
    """

    evicted: list[int]
    """
    Evicted nodes, in the order of their eviction.
    """
    oversized: list[Oversized]
    """
    Nodes that were not added: each alone exceeds the budget.
    """


class Job(BaseModel):
    """
    All data of a job.
    """

    attempts: int
    """
    The number of attempts, including the one in progress.
    """
    deferred_since: AwareDatetime | None = None
    """
    The time since which it has been deferred, no attempt counted.
    """
    due_at: AwareDatetime
    """
    The time from which it may be claimed, or might have been.
    """
    ended_at: AwareDatetime | None = None
    """
    The time when it was done or died.
    """
    held_by: str | None = None
    """
    The worker that holds it.
    """
    held_since: AwareDatetime | None = None
    """
    The time of the claim.
    """
    id: str
    """
    Its id, a ULID.
    """
    key: str | None = None
    """
    The key that refuses a second job like it: node/revision/generation/model, or the namespace that it learns for.
    """
    last_error: str | None = None
    """
    The error of its last attempt.
    """
    max_attempts: int
    """
    The maximum number of attempts.
    """
    namespace: str | None = None
    """
    The namespace of its node, or the one that it learns for.
    """
    node: int | None = None
    outcome: str | None = None
    """
    Its outcome, if it is done.
    """
    parked: Literal['budget', 'age'] | None = None
    payload: Any
    """
    The payload, as stored. JSON shows it decoded, or escaped if it cannot be decoded.
    """
    priority: int
    """
    The priority; the largest is claimed first. Backfill is below 0.
    """
    queue: str
    """
    Its queue.
    """
    read_at: AwareDatetime
    """
    The time of reading, by the database's clock.
    """
    revision: int | None = None
    """
    The revision of the node that it is for.
    """
    state: Literal['due', 'waiting', 'parked', 'running', 'done', 'dead']
    """
    Its state.
    """


class JobPage(BaseModel):
    """
    A page of jobs.
    """

    jobs: list[Job]
    next: str | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class Joined(GroupNews):
    """
    A membership.
    """

    lease_ms: Annotated[int, Field(ge=0)]
    """
    The time after a heartbeat for which the member is alive. Send one each third of it.
    """
    membership: UUID
    """
    Its id. Its holder acts for the robot.
    """


class Keepers(BaseModel):
    """
    The keepers of a memory.
    """

    groups: list[str]
    """
    The groups with it in their working memory, by name.
    """
    robots: list[KeptBy]
    """
    The robots, by name.
    """


class Keys(BaseModel):
    """
    Keys.
    """

    keys: list[ApiKey]
    """
    The newest first.
    """


class LearningBody(BaseModel):
    """
    The settings of learning in a namespace. A field that is not given has its default.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    is_on: bool
    """
    Whether recalls are kept, so that they can be judged.
    """
    keep_days: int | None = None
    """
    The days for which a judged recall is kept, 1 to 3,650. Default: 90.
    """
    keeps_text: bool | None = None
    """
    Whether the texts of queries are kept too. Default: false.
    """
    learns_with: str | None = None
    """
    The namespace whose ranking it shares. Default: its own.
    """
    least: int | None = None
    """
    The number of judged recalls from which a ranking is learnt, 20 to 100,000. Default: 100.
    """
    namespace: str | None = None
    """
    The namespace. Default: the server's.
    """
    signals: list[Literal['read', 'edited', 'forgotten', 'cited']] | None = None
    """
    The signals that count beside feedback. Default: none.
    """


class LearningSettings(BaseModel):
    """
    The recalls that a namespace keeps, and for how long.
    """

    is_on: bool | None = False
    """
    Whether recalls are kept, so that they can be judged. A ranking in use stays in use without it.
    """
    keep_days: int | None = 90
    """
    The days for which a judged recall is kept, 1 to 3,650. One that nobody judges is kept for a day.
    """
    keeps_text: bool | None = False
    """
    Whether the texts of queries are kept too.
    """
    learns_with: str | None = None
    """
    The namespace whose ranking it shares; none: its own. Feedback of namespaces that share a ranking is put together.
    """
    least: int | None = 100
    """
    The number of recalls with a used memory from which a ranking is learnt, 20 to 100,000. It is learnt again when a
    fifth more are there.
    """
    signals: list[Literal['read', 'edited', 'forgotten', 'cited']] | None = []
    """
    The signals that count beside feedback.
    """


class LeftOut(BaseModel):
    """
    A node of the working memory that is not in the context.
    """

    node: int
    """
    The node.
    """
    reason: Literal['oversized', 'no_room', 'forgotten', 'evicted', 'duplicate', 'filtered']
    """
    The reason.
    """
    tokens: Annotated[int, Field(ge=0)]
    """
    The number of tokens of its text, with its header if it was too large or found no room.
    """


class LineImported1(BaseModel):
    """
    It was not written.
    """

    problem: Problem
    """
    Why.
    """


class LineImported3(ImportedLine, LineImported2):
    """
    The result of a line.
    """


class LineImported4(LineImported1, LineImported2):
    """
    The result of a line.
    """


class LineImported(RootModel[LineImported3 | LineImported4]):
    """
    The result of a line.
    """

    root: LineImported3 | LineImported4
    """
    The result of a line.
    """


class LineOutcome1(BaseModel):
    """
    It was not written.
    """

    problem: Problem
    """
    Why.
    """


class LineOutcome(RootModel[ImportedLine | LineOutcome1]):
    root: ImportedLine | LineOutcome1
    """
    The receipt or the problem of a line.
    """


class MapPoint(BaseModel):
    """
    The place of a memory.
    """

    created_at: AwareDatetime
    """
    When it happened.
    """
    excerpt: str
    """
    The start of its text: at most 160 characters, then `…`.
    """
    node: int
    """
    The memory.
    """
    robot: str
    """
    The robot that remembered it.
    """
    topics: list[str]
    """
    The first levels of its tags, by name.
    """
    x: float
    """
    From -1 to 1, in the same scale as y.
    """
    y: float
    """
    From -1 to 1.
    """


class Match(BaseModel):
    """
    A node that contains the text.
    """

    created_at: AwareDatetime
    """
    When it happened.
    """
    excerpt: str
    """
    The text around the first match, about 100 characters.
    """
    node: int
    """
    The node.
    """
    revision: int
    """
    Its revision.
    """
    robot: str
    """
    The robot that remembered it.
    """


class MemoryMap(BaseModel):
    """
    A sample of memories in two dimensions.
    """

    embedded: int
    """
    Those that have a vector of this model. The sample is of these.
    """
    memories: int
    """
    The number of memories that pass the filter.
    """
    model: str | None = None
    """
    The embedding model whose vectors are shown, the active one; none: there is none.
    """
    points: list[MapPoint]
    """
    The sample, in the order of ids. The same memories give the same places.
    """
    variance_x: float
    """
    The share of the vectors' variance that is along x, 0 to 1.
    """
    variance_y: float
    """
    The share that is along y.
    """


class MemoryWithText(BaseModel):
    """
    A row of a memory with the text that was looked for.
    """

    columns: list[str]
    """
    The columns of the table that have the text.
    """
    node: int
    """
    The memory.
    """
    table: str
    """
    The table.
    """


class Model(ModelOverview):
    """
    An embedding model with its progress.
    """

    dimensions: Annotated[int, Field(ge=0)]
    label: str
    """
    Its label, such as `local/all-MiniLM-L6-v2`.
    """
    queue: str | None = None
    """
    Null: callers bring its vectors.
    """
    state: Literal['building', 'active', 'standby', 'retired']
    """
    The use of a model by writes and by recall.
    """
    vector_index: Literal['hnsw', 'hnsw_binary', 'diskann', 'vchordrq', 'none']
    """
    The kind of the index of a model's vectors.
    """


class NewBackfill(BaseModel):
    """
    The jobs to enqueue.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    dry_run: bool | None = None
    """
    Answers with the number of jobs, and enqueues none.
    """
    force: bool | None = None
    """
    Also memories whose stage is done.
    """
    max_queued: Annotated[int | None, Field(ge=0)] = None
    """
    The most backfill jobs that wait in the queue, at least 1. Default: 100,000.
    """
    model: str | None = None
    """
    The label of the embedding model. Default: the active one.
    """
    namespace: str | None = None
    """
    Only memories of this namespace. Default: all.
    """
    prompt_version: str | None = None
    """
    Only memories that another version of the prompt or the rules, or another model, has tagged.
    """
    since: AwareDatetime | None = None
    """
    Only memories since this time.
    """
    stage: Literal['embed', 'tag']
    """
    The stage: `embed` or `tag`.
    """


class NewKey(BaseModel):
    """
    A new key.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    expires_in_seconds: Annotated[int | None, Field(ge=0)] = None
    """
    The seconds until it expires. Null: never.
    """
    name: str | None = None
    """
    A name for people.
    """
    namespaces: list[str] | None = None
    """
    Its namespaces; `tenant-7/*` stands for every namespace below `tenant-7`. Null: all. An empty list is
    refused.
    """
    requests_per_minute: int | None = None
    """
    The most requests a minute, over all servers. Null: no limit.
    """
    robot: str | None = None
    """
    The robot of its requests. Null: each request names its own.
    """
    role: Literal['reader', 'writer', 'admin']
    """
    The role of its holder.
    """


class NewMemories(BaseModel):
    """
    Many memories.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    any_robot: bool | None = None
    """
    Whether memories of any robot may be replaced.
    """
    memories: list[NewMemory]
    """
    The memories, at most 1,000.
    """
    replaces: list[Replaced] | None = None
    """
    The conversations that the memories take the place of, at most 1,000: what these have is forgotten in the same
    transaction. All is done then, or nothing. A memory without `created_at` gets that of its conversation's first one.
    """
    robot: str | None = None
    """
    The robot that replaces what it remembered. Default: the server's.
    """


class Node(BaseModel):
    """
    A memory with its attributes.
    """

    content: str
    """
    The text.
    """
    created_at: AwareDatetime
    """
    When it happened.
    """
    expires_at: AwareDatetime | None = None
    """
    When it expires; none: never.
    """
    first_remembered: AwareDatetime
    """
    When it was first remembered. `created_at` is when it happened.
    """
    id: int
    """
    Its id.
    """
    importance: float
    """
    The importance, 1 to 10.
    """
    key: str | None = None
    """
    Its key, if any.
    """
    last_remembered: AwareDatetime
    """
    When it was last remembered.
    """
    metadata: Any
    """
    The metadata, a JSON object.
    """
    namespace: str
    """
    Its namespace.
    """
    remember_count: int
    """
    The number of times that it was remembered: 1, and 1 more for each repeat.
    """
    revision: int
    """
    The number of times that its text was written, from 1.
    """
    robot: str
    """
    The name of the robot that remembered it.
    """
    seq: int | None = None
    """
    Its position in the conversation.
    """
    session: str | None = None
    """
    The conversation.
    """
    source: str | None = None
    """
    The source: a file, a chat, a URL.
    """
    speaker: str | None = None
    """
    The speaker.
    """
    superseded_by: list[Successor] | None = None
    """
    The memories that supersede it, the last set first; empty: none does.
    """
    tags: list[str]
    """
    Tags, of every origin, in order of their paths.
    """
    token_count: int
    """
    The number of tokens of the text.
    """
    token_encoding: str
    """
    The encoding that counted the tokens: the one configured when the text was written.
    """
    ttl_seconds: int | None = None
    """
    The time in seconds from a refresh to the expiry; none: a refresh does not move the expiry.
    """
    type: str | None = None
    """
    The kind: `fact`, `decision`, …
    """
    updated_at: AwareDatetime
    """
    When its text was last written.
    """


class NodeStatus(BaseModel):
    """
    A node's progress through the stages.
    """

    node: int
    """
    The node.
    """
    stages: list[StageStatus9 | StageStatus10 | StageStatus11 | StageStatus12 | StageStatus13 | StageStatus14 | StageStatus15]
    """
    Embed and tag, in this order.
    """
    written_at: AwareDatetime
    """
    When its text was written, by the database's clock.
    """


class OntologyDocument(BaseModel):
    """
    The tags of a namespace with descriptions and synonyms, without nodes, counts and namespace: the same ontology is
    always the same document.

    Its tags are normalised, each before the tags below it. Parents may be left out; they are added anyway.
    """

    tags: list[DocumentTag]
    """
    The tags.
    """
    version: Annotated[int, Field(ge=0)]
    """
    `DOCUMENT_VERSION`.
    """


class OriginCount(BaseModel):
    """
    The assignments of one origin.
    """

    mean_confidence: float | None = None
    """
    Their mean confidence, if known.
    """
    model: str | None = None
    """
    The model; none for manual assignments.
    """
    nodes: int
    """
    The number of live nodes.
    """
    origin: Literal['manual', 'llm', 'local', 'rule']
    """
    The origin.
    """
    prompt_version: str | None = None
    """
    The version of its prompt or rules.
    """


class Orphan(TagUse):
    """
    A tag of few nodes.
    """

    merge_into: str | None = None


class Page(BaseModel):
    """
    A page of memories, the earliest first.
    """

    memories: list[Node]
    next: str | None = None
    """
    The cursor of the next page; null: this is the last.
    """


class PassagePage(BaseModel):
    """
    A document, and a page of its passages in their order.
    """

    document: DocumentInfo
    next: int | None = None
    """
    The cursor of the next page; null: this is the last.
    """
    passages: list[Node]


class Purged(Removed):
    """
    The receipt of a purge.
    """

    completions: Annotated[int, Field(ge=0)]
    """
    Completions.
    """
    repeats: Annotated[int, Field(ge=0)]
    """
    Records of repeated memories.
    """
    revisions: Annotated[int, Field(ge=0)]
    """
    Former texts.
    """
    working_memory: Annotated[int, Field(ge=0)]
    """
    Entries of working memories, of robots and groups.
    """


class QuotaAndUse(BaseModel):
    """
    A quota and its use.
    """

    quota: Quota
    used: QuotaUse | None = None


class RankingInfo(BaseModel):
    """
    A learnt ranking of a namespace.
    """

    figures: RankingFigures
    """
    Its evaluation.
    """
    is_active: bool
    """
    Whether it orders the hits now.
    """
    made_at: AwareDatetime
    """
    When it was learnt.
    """
    namespace: str
    """
    The namespace.
    """
    reason: str
    """
    The reason, for people.
    """
    trees: Annotated[int, Field(ge=0)]
    """
    The number of its trees.
    """
    unusable: str | None = None
    """
    The reason why this program cannot use it.
    """
    version: int
    """
    Its version, from 1.
    """
    was_adopted: bool
    """
    Whether its evaluation was good enough for it to be used at once.
    """
    weights: list[RankingWeight]
    """
    The weights that are not 0, or were not 0 by default.
    """


class RankingUsed(BaseModel):
    """
    The ranking that ordered the hits.
    """

    fallback: str | None = None
    """
    The reason why the default ranking stood in for the chosen version.
    """
    interleaved_with: int | None = None
    """
    The version that was mixed in, if two rankings are compared on live recalls.
    """
    version: int
    """
    Its version; 0 is the default ranking.
    """
    weights: list[RankingWeight] | None = None
    """
    The weights of a learnt ranking, if an explanation was requested.
    """


class RecallBody(BaseModel):
    """
    A query. Only the text is required.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    as_of: str | None = None
    """
    Answers as the memory stood at this time: a date (midnight in the server's time zone), an RFC 3339 time, or words.
    Its hits enter no working memory, count as no access and refresh nothing. Default: now.
    """
    boost_tags: list[str] | None = None
    """
    Preferred tags: hits are then ordered by relevance.
    """
    correct: bool | None = None
    """
    Whether unknown words are spell-corrected. Default: true.
    """
    count_accesses: bool | None = None
    """
    Whether hits count as accessed. Default: true.
    """
    diversity: float | None = None
    """
    Prefers hits that differ: 0 (score only) to 1 (novelty only).
    """
    expand: bool | None = None
    """
    Whether a language model rephrases the query.
    """
    explain: bool | None = None
    """
    Whether to return the parts of each score.
    """
    filter: FilterBody | None = None
    """
    The searched memories.
    """
    fold: bool | None = None
    """
    Whether near-duplicates become one hit.
    """
    fold_documents: bool | None = None
    """
    Whether the passages of a document become one hit.
    """
    follow: bool | None = None
    """
    Whether a memory that supersedes a hit takes its place.
    """
    limit: Annotated[int | None, Field(ge=0)] = None
    """
    The most hits, 1 to 10,000. Default: 20.
    """
    min_similarity: float | None = None
    """
    The least cosine similarity of hits by vectors, 0 to 1.
    """
    models: list[str] | None = None
    """
    The labels of the embedding models to search. Default: the active one.
    """
    neighbours: Annotated[int | None, Field(ge=0, le=10)] = None
    """
    The neighbours to return of each hit in a conversation or a document, on each side: 0 to 10, none with
    `as_of`. Default: 0.
    """
    order_by: str | None = None
    """
    Weights of relevance: `similarity=0.7,recency=0.3`, or `relevance`.
    """
    query: str | None = None
    """
    The question or the words. `"a phrase"` is preferred, `-word` is excluded, `word*` is a prefix.
    With `vector` and strategy `vector` it may be left out.
    """
    refresh: bool | None = None
    """
    Whether the hits' times to live start again. Needs a writer's key.
    """
    rerank: bool | None = None
    """
    Whether a re-ranker orders the first candidates.
    """
    robot: str | None = None
    """
    The robot that asks: the hits enter its working memory, which needs a writer's key. Default: nobody.
    """
    snippets: bool | None = None
    """
    Whether to return the best excerpt of each hit.
    """
    strategy: Literal['vector', 'fulltext', 'hybrid', 'auto'] | None = None
    vector: list[float] | None = None
    """
    Its vector by the searched model, in place of an embedding by the model's provider.
    """


class RegisteredModel(BaseModel):
    """
    A registered embedding model.
    """

    dimensions: Annotated[int, Field(ge=0)]
    """
    The length of its vectors.
    """
    id: int
    """
    Its number; its vectors are in `htm.embeddings_<id>`.
    """
    label: str
    """
    Its unique label: `provider/name`, with `@dimensions` if another model has that name.
    """
    name: ModelName
    """
    Provider and name.
    """
    queue: str | None = None
    """
    The queue of its jobs; none: its callers bring the vectors.
    """
    state: Literal['building', 'active', 'standby', 'retired']
    """
    Its state.
    """
    vector_index: Literal['hnsw', 'hnsw_binary', 'diskann', 'vchordrq', 'none']
    """
    The kind of the index of its vectors.
    """


class RelatedNode(BaseModel):
    """
    A related memory.
    """

    by: Literal['supersedes', 'superseded_by', 'contradicts', 'near_duplicate', 'shared_tags']
    """
    The way in which it is related.
    """
    created_at: AwareDatetime
    """
    When it happened.
    """
    excerpt: str
    """
    The first 100 characters of its text.
    """
    made_at: AwareDatetime | None = None
    """
    When the relation was set; none of a derived one.
    """
    made_by: str | None = None
    """
    The robot that set the relation; none of a derived one.
    """
    node: int
    """
    Its id.
    """
    reason: str | None = None
    """
    The reason of a relation that was set, if one was given.
    """
    robot: str
    """
    The name of the robot that remembered it.
    """
    similarity: float | None = None
    """
    The cosine similarity of a near-duplicate.
    """
    tags: list[str] | None = None
    """
    The shared tags, the rarest first.
    """


class Relation(BaseModel):
    """
    A relation that a person or an agent has set.
    """

    from_: Annotated[int, Field(alias='from')]
    """
    The memory that supersedes or contradicts.
    """
    kind: Literal['supersedes', 'contradicts']
    """
    The kind.
    """
    made_at: AwareDatetime
    """
    When it was set.
    """
    reason: str | None = None
    """
    The reason, if one was given.
    """
    robot: str
    """
    The robot that set it, by its name at that time.
    """
    to: int
    """
    The memory that is superseded or contradicted.
    """


class RelationBody(BaseModel):
    """
    A relation of the memory of the path to another one.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    any_robot: bool | None = None
    """
    Whether the memory of the path may be of any robot.
    """
    kind: Literal['supersedes', 'contradicts']
    """
    The kind.
    """
    namespace: str | None = None
    """
    The namespace of the robot that says so. Default: the server's.
    """
    reason: str | None = None
    """
    The reason.
    """
    robot: str | None = None
    """
    The robot that says so: it must have first remembered the memory of the path. Default: the server's.
    """
    to: int
    """
    The memory that is superseded or contradicted.
    """


class RobotPage(BaseModel):
    """
    A page of robots, by their namespaces and names.
    """

    next: UUID | None = None
    """
    The cursor of the next page; null: this is the last.
    """
    robots: list[RobotStatistics]


class Shown(BackfillRun):
    """
    A run and its progress.
    """

    jobs: BackfillProgress
    """
    The jobs of the queue and the namespace, with those of earlier runs.
    """


class SplitTag(Change):
    """
    A split of a tag.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    into: list[TermBody]
    """
    The tags in its place. A worker chooses for each memory.
    """
    leftover: Literal['keep', 'first'] | None = None
    """
    The tag of memories that fit none of them. Default: they keep the tag.
    """
    tag: str
    """
    The tag.
    """


class Storage(BaseModel):
    """
    The disk space of the database.
    """

    database_bytes: int
    """
    The whole database, in bytes.
    """
    indexes: list[IndexSize]
    """
    Their indexes, the largest first.
    """
    tables: list[TableSize]
    """
    The tables of HTM and of its jobs, the largest first.
    """


class Suggestion(BaseModel):
    """
    Two tags that may mean the same, with the evidence.
    """

    from_: Annotated[str, Field(alias='from')]
    """
    The tag with fewer nodes.
    """
    from_nodes: int
    """
    Nodes of `from` and those below it.
    """
    into: str
    """
    The tag to keep.
    """
    into_nodes: int
    """
    Nodes of `into` and those below it.
    """
    meaning: float | None = None
    """
    The cosine of their embeddings, from 0.85.
    """
    name: float | None = None
    """
    The trigram similarity of their last levels, from 0.5.
    """
    nodes: float | None = None
    """
    The share of common nodes, from 0.5.
    """


class SweptNamespace(BaseModel):
    """
    The receipt of a sweep for a namespace.
    """

    aged: Annotated[int, Field(ge=0)]
    """
    Memories that the retention policy has forgotten.
    """
    expired: Annotated[int, Field(ge=0)]
    """
    Memories that had expired and are forgotten now.
    """
    forgotten: Removed
    """
    Embeddings and assignments of tags that are hidden with them, and deleted jobs.
    """
    namespace: str
    """
    The namespace.
    """
    purged: Purged
    """
    Rows that the retention policy has purged.
    """


class TagAssignment(BaseModel):
    """
    A tag of a node, and who set it.
    """

    assigned_at: AwareDatetime
    """
    When it was set.
    """
    confidence: float | None = None
    """
    The confidence, 0 to 1, if the origin tells one.
    """
    model: str | None = None
    """
    The model; none for a manual assignment.
    """
    origin: Literal['manual', 'llm', 'local', 'rule']
    """
    The origin.
    """
    prompt_version: str | None = None
    """
    The version of its prompt or rules.
    """
    tag: str
    """
    The tag.
    """


class TagDetails(TagUse):
    """
    The details of a tag.
    """

    children: list[TagUse]
    """
    The tags directly below it.
    """
    newest: list[TaggedNode]
    """
    The newest nodes that have it or one below it.
    """
    origins: list[OriginCount]
    """
    Its assignments by origin.
    """
    parents: list[str]
    """
    The tags above it, the root first.
    """
    siblings: list[str]
    """
    The tags beside it, below the same parent.
    """
    synonyms: list[str]
    """
    Its synonyms.
    """


class TagPage(BaseModel):
    """
    A page of tags, by their paths.
    """

    next: str | None = None
    """
    The cursor of the next page; null: this is the last.
    """
    tags: list[TagUse]


class TimelineEntry(Node):
    """
    A memory of a timeline.
    """

    score: float | None = None
    """
    Its score for the topic. Larger is better; none without a topic.
    """


class Trial(BaseModel):
    """
    A ranking that is tried on live recalls.
    """

    kind: Literal['shadow', 'interleaved']
    """
    The way.
    """
    version: int
    """
    The version.
    """


class Verification(BaseModel):
    """
    The result of a search for traces of an erasure.
    """

    erasure: Erasure
    """
    The receipt.
    """
    is_behind_checkpoint: bool
    """
    Whether that is after the erasure: a crash of the server would not read the erased rows again.
    """
    is_clean: bool
    """
    Whether nothing was found, in places that are all known and could be looked at.
    """
    places: list[PlaceFound]
    """
    Every table of the database's schemas `htm` and `apalis`.
    """
    redo_position: str
    """
    Where recovery after a crash would begin to read the write-ahead log.
    """
    with_text: list[MemoryWithText]
    """
    The first rows of other memories with the given text, 20 at most.
    """


class Working(BaseModel):
    """
    A working memory.
    """

    nodes: list[Entry]
    """
    Its memories, the first to be evicted first.
    """
    stats: WorkingMemoryStats
    """
    Its use.
    """


class Written(Receipt):
    """
    The receipt of a write.
    """

    status: NodeStatus | None = None


class Context(BaseModel):
    """
    A text for a prompt, its nodes, and the omitted ones.
    """

    included: list[int]
    """
    The nodes in it, in their order.
    """
    left_out: list[LeftOut]
    """
    The omitted nodes, in the order of the context; last those that do not pass the filter.
    """
    max_tokens: Annotated[int, Field(ge=0)]
    """
    The budget.
    """
    order: Literal['recent', 'important', 'frequent', 'balanced']
    """
    The order of the nodes.
    """
    superseded: list[Superseded] | None = None
    """
    The nodes of the text that other memories supersede.
    """
    text: str
    """
    The text.
    """
    tokens: Annotated[int, Field(ge=0)]
    """
    The tokens of the whole text, never more than the budget.
    """


class ConversationWritten(BaseModel):
    """
    A remembered conversation.
    """

    results: list[Written]
    """
    A receipt for each message, in their order.
    """
    session: str
    """
    Its name: the given one, or a new one.
    """


class Deleted(RootModel[Forgotten | Erasure]):
    root: Forgotten | Erasure
    """
    The outcome for a memory.
    """


class EditedNow(Edited):
    """
    The answer to an edit.
    """

    status: NodeStatus | None = None


class ErasePlan(BaseModel):
    """
    The preview of an erasure.
    """

    matches: list[Match]
    """
    The first memories by id, `MAX_MATCHES` at most, with the beginning of each text.
    """
    memories: Annotated[int, Field(ge=0)]
    """
    The number of memories.
    """
    plan: str
    """
    A digest of the memories and their revisions. An erasure with this plan is refused if they have changed.
    """
    removed: dict[str, RemovedAdditionalProperty]
    """
    The number of rows by table, of tables with any.
    """


class Erased(BaseModel):
    """
    The plan, or the receipt.
    """

    erasure: Erasure | None = None
    plan: ErasePlan | None = None


class ForgetPlan(BaseModel):
    """
    The plan of a forget by content. Confirming it forgets exactly these nodes.
    """

    matches: list[Match]
    """
    The nodes, oldest first; `MAX_MATCHES` at most.
    """
    more: bool
    """
    Whether more nodes match.
    """
    of_others: int
    """
    The number of matching nodes that the caller may not forget, because other robots remembered them.
    """


class GroupInfo(BaseModel):
    """
    A group.
    """

    closed_at: AwareDatetime | None = None
    """
    When it was shut down; none while it is open.
    """
    created_at: AwareDatetime
    """
    When it was created.
    """
    id: int
    """
    Its number.
    """
    max_tokens: int
    """
    The token budget of its working memory.
    """
    members: list[GroupMemberInfo]
    """
    Its members: the active ones first, each in the order of joining.
    """
    name: str
    """
    Its name, unique in its namespace.
    """
    namespace: str
    """
    Its namespace.
    """
    nodes: int
    """
    The nodes in it.
    """
    tokens: int
    """
    The tokens in it, as counted when the nodes were written.
    """
    version: int
    """
    The version of its working memory.
    """


class Hit(Node):
    """
    A hit.
    """

    access_count: Annotated[int, Field(ge=0)]
    """
    The number of times that it was a hit before. Saved in the background, so the last seconds may be missing.
    """
    after: list[Node] | None = None
    """
    The memories after it, the earliest first.
    """
    before: list[Node] | None = None
    """
    The memories before it in its conversation or document, the earliest first, if requested.
    """
    explanation: Explanation | None = None
    folded: list[int]
    """
    Its folded near-duplicates, or the other passages of its document, the best first.
    """
    followed_from: Predecessor | None = None
    last_accessed: AwareDatetime | None = None
    """
    When it was last a hit.
    """
    matched_by: Literal['vector', 'text', 'both', 'time', 'tag', 'neighbour']
    """
    The kind of match that found it.
    """
    scores: Scores
    """
    The scores that decide its place.
    """
    snippet: str | None = None
    """
    Its best excerpt, if requested.
    """


class ImportOntology(Change):
    """
    An ontology to import.
    """

    model_config = ConfigDict(
        extra='forbid',
    )
    document: OntologyDocument
    """
    The document, as the export makes it.
    """
    overwrite_descriptions: bool | None = None
    """
    Whether its descriptions replace existing ones.
    """
    source: str | None = None
    """
    Its source, for the log. Default: `http`.
    """


class Learning(BaseModel):
    """
    The state of a namespace's learning.
    """

    authors: list[FeedbackAuthor]
    """
    The authors of feedback, the most active first; at most 20.
    """
    judged: int
    """
    Of these, those with a used memory, of all namespaces that learn together.
    """
    kept: int
    """
    Recalls that are kept.
    """
    learns_at: int
    """
    The number of judged recalls at which a ranking is learnt next.
    """
    namespace: str
    """
    The namespace.
    """
    settings: LearningSettings
    """
    Its settings.
    """
    version: int
    """
    The version that orders its hits; 0 is the default ranking.
    """


class ManyWritten(BaseModel):
    """
    The results of many writes.
    """

    results: list[Written | Problem]
    """
    A result for each memory, in their order: a receipt or a problem.
    """


class MatchingForgotten(BaseModel):
    """
    The plan, and what was forgotten.
    """

    forgotten: Forgotten | None = None
    plan: ForgetPlan
    """
    The matches.
    """


class MemoryStats(BaseModel):
    """
    The statistics, all of one instant.
    """

    ages: Ages
    """
    The ages of the live memories.
    """
    enrichment: list[Enrichment]
    """
    The progress of the live nodes, by stage and model.
    """
    groups: list[GroupUse]
    """
    The open groups, the fullest first.
    """
    namespace: str | None = None
    """
    The namespace; none for all.
    """
    namespaces: Counts
    """
    Live nodes by namespace.
    """
    robots: Counts
    """
    Live nodes by robot.
    """
    storage: Storage | None = None
    tags: Counts
    """
    Live nodes by tag.
    """
    totals: Totals
    """
    The totals.
    """
    types: Counts
    """
    Live nodes by type; no name for those without one.
    """
    working_memory: list[WorkingMemoryUse]
    """
    The saved working memories, the fullest first.
    """
    working_memory_tokens: Annotated[int, Field(ge=0)]
    """
    The handle's token budget of a working memory; a robot may have its own.
    """


class Neighbours(BaseModel):
    """
    A memory and its neighbours.
    """

    after: list[Node]
    """
    The memories after it, the earliest first.
    """
    before: list[Node]
    """
    The memories before it, the earliest first.
    """
    node: Node
    """
    The memory.
    """


class Rankings(BaseModel):
    """
    The rankings of a namespace.
    """

    active: int
    """
    The version that orders hits; 0 is the default ranking.
    """
    choices: list[RankingChoice]
    """
    The last 20 changes of the active version, the newest first.
    """
    namespace: str
    """
    The namespace that they belong to: the one asked for, or the one that it learns with.
    """
    rankings: list[RankingInfo]
    """
    The learnt ones, the newest first.
    """
    trial: Trial | None = None


class Recalled(BaseModel):
    """
    The answer of a recall: the hits, and the limits of the search.
    """

    as_of: AsOf | None = None
    chosen: Chosen | None = None
    corrected: list[Correction]
    """
    Spell-corrections: unknown words and their replacements.
    """
    degraded: list[Degraded]
    """
    The steps that did not run, and why.
    """
    embed_ms: float
    """
    Milliseconds for the query's embedding (0 if cached or not needed).
    """
    expand_ms: float
    """
    Milliseconds for the expansion.
    """
    expansions: list[str]
    """
    Other phrasings that were searched.
    """
    facets: list[Facet]
    """
    The tags of the hits, the most frequent first.
    """
    hits: list[Hit]
    """
    The hits, best first.
    """
    instead_of: str | None = None
    """
    The active model, if one on standby answered because this program has no embedder of the active one.
    """
    legs: list[Literal['exact', 'narrow', 'index', 'text', 'bm25']]
    """
    The searches that ran.
    """
    models: list[str]
    """
    The labels of the searched models; empty without vectors.
    """
    ranking: RankingUsed
    """
    The ranking that ordered the hits.
    """
    recall_id: str | None = None
    """
    The id by which feedback names this recall; none where learning is off.
    """
    relaxed: bool
    """
    Whether the words of the required phrases were searched, because no memory in scope has the phrases.
    """
    rerank_ms: float
    """
    Milliseconds for the re-ranker.
    """
    search_ms: float
    """
    Milliseconds for the search, including network time.
    """
    strategy: Literal['vector', 'fulltext', 'hybrid', 'auto']
    """
    The requested strategy.
    """
    time_phrase: TimePhrase | None = None
    timeframe: list[TimeRange]
    """
    The resolved timeframe.
    """
    unembedded: int
    """
    Nodes in namespace and timeframe whose embedding is pending: vectors find them by a former text, or not at all.
    At most 1,001 are counted. For a building model or one of callers, only the latest 200 nodes are looked at. 0
    for full text, which needs no embedding.
    """
    vector_search: Literal['exact', 'approximate'] | None = None


class Related(BaseModel):
    """
    The memories that a memory is related to.
    """

    former_texts: int
    """
    The number of its former texts, which `Htm::revisions` lists.
    """
    node: int
    """
    The memory that was asked about.
    """
    not_searched: list[str]
    """
    The derived relations that could not be looked for, and why.
    """
    related: list[RelatedNode]
    """
    The related memories: those of relations that were set first, then near-duplicates, then those with the same tags.
    """


class Relating(Relation):
    """
    The receipt of a relation.
    """

    is_new: bool
    """
    Whether it is new. A repeat changes nothing.
    """
    removed: list[Relation] | None = None
    """
    The relations that it has ended: those by which the other memory superseded this one.
    """


class RobotContext(Context):
    """
    A context made from a robot's working memory.
    """

    unverified: Unverified | None = None


class Swept(BaseModel):
    """
    The receipt of a sweep.
    """

    namespaces: list[SweptNamespace]
    """
    A row for each namespace with a change, in order.
    """


class Timeline(BaseModel):
    """
    Memories in chronological order.
    """

    as_of: AsOf | None = None
    corrected: list[Correction]
    """
    As `Recalled::corrected`; empty without a topic.
    """
    degraded: list[Degraded]
    """
    As `Recalled::degraded`; empty without a topic.
    """
    entries: list[TimelineEntry]
    """
    The memories, the earliest first; those of one instant by session and position.
    """
    instead_of: str | None = None
    """
    As `Recalled::instead_of`.
    """
    models: list[str]
    """
    As `Recalled::models`; empty without a topic.
    """
    relaxed: bool
    """
    As `Recalled::relaxed`.
    """
    time_phrase: TimePhrase | None = None
    timeframe: list[TimeRange]
    """
    The resolved timeframe.
    """


class TimelineAnswer(Timeline):
    """
    The memories, in chronological order.
    """

    unknown_names: list[UnknownName]
    """
    The names in the filter that nothing has.
    """


class Answer(Recalled):
    """
    The hits, and what they did to the working memory of the robot that asked.
    """

    unknown_names: list[UnknownName]
    """
    The names in the filter, and among preferred tags, that nothing has.
    """
    working_memory: Intake | None = None


class ContextAnswer(RobotContext):
    """
    The context, and the query's hits.
    """

    left_behind: list[int]
    """
    Memories that no longer fit, because the token budget is smaller than it was.
    """
    recalled: Recalled | None = None
    unknown_names: list[UnknownName]
    """
    The names in the filter that nothing has.
    """
    working_memory: WorkingMemoryStats
    """
    The use of the working memory.
    """
