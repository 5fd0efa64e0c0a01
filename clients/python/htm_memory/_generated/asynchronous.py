"""The operations, asynchronous. Made by `clients/generate`; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, List, Literal

from ..calls import UNSET, Call, AsyncSender, Unset
from . import models as m


class AsyncBackfills:
    """Backfills."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def cancel(
        self,
        id: int,
        *,
        idempotency_key: str | None = None,
    ) -> m.Shown:
        """End a backfill where it is. The jobs that it has enqueued stay."""
        return await self._sender.send(
            Call(
                "POST",
                "/v1/backfills/{id}/cancel",
                m.Shown,
                path={
                    "id": id,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def get(
        self,
        id: int,
    ) -> m.Shown:
        """Read a backfill with its progress."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/backfills/{id}",
                m.Shown,
                path={
                    "id": id,
                },
            )
        )

    async def list(
        self,
        *,
        cursor: int | None = None,
        limit: int | None = None,
    ) -> m.Backfills:
        """List backfills, those of the command `htm backfill` too.

        Args:
            cursor: `next` of the previous page.
            limit: The most runs, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/backfills",
                m.Backfills,
                query={
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def start(
        self,
        stage: Literal["embed", "tag"],
        *,
        dry_run: bool | None = None,
        force: bool | None = None,
        max_queued: int | None = None,
        model: str | None = None,
        namespace: str | None = None,
        prompt_version: str | None = None,
        since: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> m.WouldEnqueue | m.BackfillRun:
        """Start a backfill, or go on with the unfinished one of the same request.

        It is behind every live job, and goes on after a restart of the server. `Location` has its
        path. A dry run is answered with the number of jobs.

        Args:
            dry_run: Answers with the number of jobs, and enqueues none.
            force: Also memories whose stage is done.
            max_queued: The most backfill jobs that wait in the queue, at least 1. Default: 100,000.
            model: The label of the embedding model. Default: the active one.
            namespace: Only memories of this namespace. Default: all.
            prompt_version: Only memories that another version of the prompt or the rules, or
                another model, has tagged.
            since: Only memories since this time.
            stage: The stage: `embed` or `tag`.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/backfills",
                m.WouldEnqueue | m.BackfillRun,
                body={
                    "dry_run": dry_run,
                    "force": force,
                    "max_queued": max_queued,
                    "model": model,
                    "namespace": namespace,
                    "prompt_version": prompt_version,
                    "since": since,
                    "stage": stage,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncConversations:
    """Conversations."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def create(
        self,
        messages: Sequence[m.Message | dict[str, Any]],
        *,
        wait: Literal["embed", "tag", "all"] | None = None,
        wait_ms: int | None = None,
        expires_at: datetime | None = None,
        first_seq: int | None = None,
        metadata: dict[str, Any] | None = None,
        namespace: str | None = None,
        robot: str | None = None,
        session: str | None = None,
        source: str | None = None,
        tags: Sequence[str] | None = None,
        ttl_seconds: int | None = None,
        idempotency_key: str | None = None,
    ) -> m.ConversationWritten:
        """Remember a conversation.

        Each message is a memory with the conversation, its position and its speaker. They are
        written in one transaction, all or none: if one cannot be written, the answer is its
        problem. Without `first_seq` they continue the conversation, and their receipts have the
        positions; concurrent calls run one after the other.

        Args:
            wait: Answer only when this is done, or when the time is over. The write is committed in
                any case.
            wait_ms: The time to wait in milliseconds, at most 30,000. Default: 10,000.
            expires_at: When the memories expire. Default: never.
            first_seq: The position of the first message. Default: the one after the conversation's
                last message, or 0.
            messages: The messages, at most 1,000.
            metadata: Metadata of every message: at most 1 MiB for all messages together.
            namespace: The namespace. Default: the server's.
            robot: The robot that remembers. Default: the server's.
            session: The conversation's name. Default: a new one.
            source: Its source: a file, a chat, a URL.
            tags: Tags of every message.
            ttl_seconds: Instead of `expires_at`: the seconds from now to their expiry.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/conversations",
                m.ConversationWritten,
                query={
                    "wait": wait,
                    "wait_ms": wait_ms,
                },
                body={
                    "expires_at": expires_at,
                    "first_seq": first_seq,
                    "messages": messages,
                    "metadata": metadata,
                    "namespace": namespace,
                    "robot": robot,
                    "session": session,
                    "source": source,
                    "tags": tags,
                    "ttl_seconds": ttl_seconds,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncDocuments:
    """Documents."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(
        self,
        *,
        namespace: str | None = None,
        below: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> m.DocumentPage:
        """List the documents of a namespace.

        Args:
            namespace: The namespace. Default: the server's.
            below: Only documents at or below this path.
            cursor: `next` of the previous page.
            limit: The most documents, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/documents",
                m.DocumentPage,
                query={
                    "namespace": namespace,
                    "below": below,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def load(
        self,
        path: str,
        *,
        any_robot: bool | None = None,
        bytes: str | None = None,
        namespace: str | None = None,
        overlap: int | None = None,
        robot: str | None = None,
        size: int | None = None,
        tags: Sequence[str] | None = None,
        text: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.DocumentAnswer:
        """Load a document.

        Its passages take the place of those that it had. A passage with the same text keeps its
        memory. A document without a change is not written.

        Args:
            any_robot: Whether a document of any robot may be changed.
            bytes: The bytes of the file in base64, such as those of a PDF.
            namespace: The namespace. Default: the server's.
            overlap: The characters that a passage repeats of the one before it, up to half of the
                size. Default: 100.
            path: Its path, which identifies it in its namespace. Its extension tells the kind of
                the file.
            robot: The robot that loads: it may change the documents that it loaded. Default: the
                server's.
            size: The most characters of a passage, 200 to 100,000. Default: 1,000.
            tags: Tags of each passage, beside those of the front matter.
            text: The text of the file. Instead: `bytes`.
        """
        return await self._sender.send(
            Call(
                "PUT",
                "/v1/documents",
                m.DocumentAnswer,
                body={
                    "any_robot": any_robot,
                    "bytes": bytes,
                    "namespace": namespace,
                    "overlap": overlap,
                    "path": path,
                    "robot": robot,
                    "size": size,
                    "tags": tags,
                    "text": text,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def passages(
        self,
        path: str,
        *,
        namespace: str | None = None,
        cursor: int | None = None,
        limit: int | None = None,
    ) -> m.PassagePage:
        """Read a document: its passages in their order.

        Args:
            path: The path of the document.
            namespace: The namespace. Default: the server's.
            cursor: `next` of the previous page.
            limit: The most passages, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/documents/passages",
                m.PassagePage,
                query={
                    "path": path,
                    "namespace": namespace,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def unload(
        self,
        path: str,
        *,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        idempotency_key: str | None = None,
    ) -> m.UnloadedDocuments:
        """Unload a document, or all documents below a directory.

        Their passages are forgotten. Each can be restored until it is purged.

        Args:
            path: Its path, or a directory for all documents below it.
            namespace: The namespace. Default: the server's.
            robot: The robot that asks: it may unload the documents that it loaded. Default: the
                server's.
            any_robot: Whether documents of any robot may be unloaded.
        """
        return await self._sender.send(
            Call(
                "DELETE",
                "/v1/documents",
                m.UnloadedDocuments,
                query={
                    "path": path,
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncErasures:
    """Erasures."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def erase_many(
        self,
        *,
        confirm: bool | None = None,
        dry_run: bool | None = None,
        ids: Sequence[int] | None = None,
        namespace: str | None = None,
        plan: str | None = None,
        robot: str | None = None,
        text: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Erased:
        """Erase memories with every trace. It cannot be undone.

        The memories are those with these ids, those that contain a text, or those of a robot;
        forgotten ones too. An erasure whose request takes too long goes on; `/v1/erasures` lists
        it.

        Args:
            confirm: The act is refused without it.
            dry_run: Answers with the plan, and erases nothing.
            ids: These memories.
            namespace: The namespace of the text or the robot. Default: the server's.
            plan: The plan of a dry run, which a text needs. The act is refused if the memories have
                changed since.
            robot: Those that this robot remembered.
            text: Those whose text, or a former text, contains this.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/memories/erase",
                m.Erased,
                body={
                    "confirm": confirm,
                    "dry_run": dry_run,
                    "ids": ids,
                    "namespace": namespace,
                    "plan": plan,
                    "robot": robot,
                    "text": text,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def erase_namespace(
        self,
        namespace: str,
        *,
        confirm: bool | None = None,
        dry_run: bool | None = None,
        idempotency_key: str | None = None,
    ) -> m.Erased:
        """Erase a namespace: its memories, robots, groups, ontology, policies and statistics. It
        cannot be undone.

        In the path, `/` of the namespace is written `%2F`.

        Args:
            confirm: The act is refused without it.
            dry_run: Answers with the plan, and erases nothing.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/namespaces/{namespace}/erase",
                m.Erased,
                path={
                    "namespace": namespace,
                },
                body={
                    "confirm": confirm,
                    "dry_run": dry_run,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def get(
        self,
        id: int,
    ) -> m.Erasure:
        """Read the receipt of an erasure."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/erasures/{id}",
                m.Erasure,
                path={
                    "id": id,
                },
            )
        )

    async def list(
        self,
        *,
        cursor: int | None = None,
        limit: int | None = None,
    ) -> m.Erasures:
        """List the receipts of erasures.

        Args:
            cursor: `next` of the previous page.
            limit: The most receipts, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/erasures",
                m.Erasures,
                query={
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def resume(
        self,
        id: int,
        *,
        idempotency_key: str | None = None,
    ) -> m.Erasure:
        """Go on with an interrupted erasure. One that has ended is done again for what came back
        since.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/erasures/{id}/resume",
                m.Erasure,
                path={
                    "id": id,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def verify(
        self,
        id: int,
        *,
        text: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Verification:
        """Look for traces of an erasure in every table.

        Args:
            text: A text, looked for in every column of every table. It is kept nowhere. Only with a
                key for all namespaces.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/erasures/{id}/verify",
                m.Verification,
                path={
                    "id": id,
                },
                body={
                    "text": text,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncFiles:
    """Files."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def create(
        self,
        *,
        file_text: str,
        path: str,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        command: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.FileReply:
        """Create a file.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The robot that writes: it may change the files that it created. Default: the
                server's.
            any_robot: Whether files of any robot may be changed.
            command: `create`, or not given.
            file_text: Its text, at most 1 MiB.
            path: Its path, below `/memories`.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/files/create",
                m.FileReply,
                query={
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                },
                body={
                    "command": command,
                    "file_text": file_text,
                    "path": path,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def delete(
        self,
        path: str,
        *,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        command: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.FileReply:
        """Delete a file, or a directory with all files below it.

        Their memories are forgotten. Each can be restored until it is purged.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The robot that writes: it may change the files that it created. Default: the
                server's.
            any_robot: Whether files of any robot may be changed.
            command: `delete`, or not given.
            path: Its path, below `/memories`.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/files/delete",
                m.FileReply,
                query={
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                },
                body={
                    "command": command,
                    "path": path,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def insert(
        self,
        *,
        insert_line: int,
        insert_text: str,
        path: str,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        command: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.FileReply:
        """Insert lines into a file.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The robot that writes: it may change the files that it created. Default: the
                server's.
            any_robot: Whether files of any robot may be changed.
            command: `insert`, or not given.
            insert_line: The number of the line that they follow; 0 is the beginning.
            insert_text: The lines.
            path: The path of the file.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/files/insert",
                m.FileReply,
                query={
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                },
                body={
                    "command": command,
                    "insert_line": insert_line,
                    "insert_text": insert_text,
                    "path": path,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def rename(
        self,
        *,
        new_path: str,
        old_path: str,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        command: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.FileReply:
        """Rename a file, or a directory with all files below it.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The robot that writes: it may change the files that it created. Default: the
                server's.
            any_robot: Whether files of any robot may be changed.
            command: `rename`, or not given.
            new_path: Its new path, where nothing is.
            old_path: Its path, below `/memories`.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/files/rename",
                m.FileReply,
                query={
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                },
                body={
                    "command": command,
                    "new_path": new_path,
                    "old_path": old_path,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def str_replace(
        self,
        *,
        new_str: str,
        old_str: str,
        path: str,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        command: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.FileReply:
        """Replace a text of a file.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The robot that writes: it may change the files that it created. Default: the
                server's.
            any_robot: Whether files of any robot may be changed.
            command: `str_replace`, or not given.
            new_str: The text in its place.
            old_str: The text to replace, which occurs exactly once.
            path: The path of the file.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/files/str_replace",
                m.FileReply,
                query={
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                },
                body={
                    "command": command,
                    "new_str": new_str,
                    "old_str": old_str,
                    "path": path,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def view(
        self,
        path: str,
        *,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        command: str | None = None,
        view_range: Sequence[int] | None = None,
    ) -> m.FileReply:
        """View a file with its line numbers, or list a directory.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The robot that writes: it may change the files that it created. Default: the
                server's.
            any_robot: Whether files of any robot may be changed.
            command: `view`, or not given.
            path: Its path, `/memories` or below.
            view_range: The first and the last line of a file, from 1. -1 is the end of the file.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/files/view",
                m.FileReply,
                query={
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                },
                body={
                    "command": command,
                    "path": path,
                    "view_range": view_range,
                },
            )
        )


class AsyncGroups:
    """Groups."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def demote(
        self,
        name: str,
        robot: str,
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.GroupInfo:
        """Make a member passive.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The member.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/demote",
                m.GroupInfo,
                path={
                    "name": name,
                },
                body={
                    "namespace": namespace,
                    "robot": robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def get(
        self,
        name: str,
        *,
        namespace: str | None = None,
    ) -> m.GroupInfo:
        """Read a group.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/groups/{name}",
                m.GroupInfo,
                path={
                    "name": name,
                },
                query={
                    "namespace": namespace,
                },
            )
        )

    async def list(
        self,
        *,
        namespace: str | None = None,
        all: bool | None = None,
    ) -> List[m.GroupInfo]:
        """List groups with their members.

        Args:
            namespace: The namespace. Default: the server's.
            all: Whether to list all namespaces.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/groups",
                List[m.GroupInfo],
                query={
                    "namespace": namespace,
                    "all": all,
                },
            )
        )

    async def promote(
        self,
        name: str,
        robot: str,
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.GroupInfo:
        """Make a member active.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The member.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/promote",
                m.GroupInfo,
                path={
                    "name": name,
                },
                body={
                    "namespace": namespace,
                    "robot": robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def remove(
        self,
        name: str,
        robot: str,
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.GroupInfo:
        """Remove a member.

        Args:
            namespace: The namespace. Default: the server's.
            robot: The member.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/remove",
                m.GroupInfo,
                path={
                    "name": name,
                },
                body={
                    "namespace": namespace,
                    "robot": robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def shutdown(
        self,
        name: str,
        *,
        clear: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.ShutDown:
        """Shut a group down: its members leave.

        Args:
            clear: Whether its working memory is emptied. Long-term memory is unchanged.
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/shutdown",
                m.ShutDown,
                path={
                    "name": name,
                },
                body={
                    "clear": clear,
                    "namespace": namespace,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def transfer(
        self,
        name: str,
        *,
        namespace: str | None = None,
        nodes: Sequence[int] | None = None,
        to_group: str | None = None,
        to_robot: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.TransferReceipt:
        """Transfer memories of a group's working memory to another group or to a robot.

        Args:
            namespace: The namespace. Default: the server's.
            nodes: These memories. Default: all.
            to_group: To the working memory of this group,
            to_robot: or to that of this robot.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/transfer",
                m.TransferReceipt,
                path={
                    "name": name,
                },
                body={
                    "namespace": namespace,
                    "nodes": nodes,
                    "to_group": to_group,
                    "to_robot": to_robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncJobs:
    """Jobs."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def audit(
        self,
    ) -> m.Audit:
        """Find memories without a result, a job or a dead letter. Reads every memory."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/jobs/audit",
                m.Audit,
            )
        )

    async def cancel(
        self,
        *,
        confirm: bool | None = None,
        error: str | None = None,
        ids: Sequence[str] | None = None,
        namespace: str | None = None,
        node: int | None = None,
        queue: str | None = None,
        state: Literal["due", "waiting", "parked", "running", "done", "dead"] | None = None,
        idempotency_key: str | None = None,
    ) -> m.ChangedJobs:
        """Turn pending or running jobs into dead letters.

        Args:
            confirm: More than one job is cancelled only with it.
            error: A part of their last error, in upper or lower case.
            ids: The jobs with these ids; the conditions must be empty then.
            namespace: The namespace of their memories.
            node: Their memory.
            queue: The queue.
            state: The state.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/jobs/cancel",
                m.ChangedJobs,
                body={
                    "confirm": confirm,
                    "error": error,
                    "ids": ids,
                    "namespace": namespace,
                    "node": node,
                    "queue": queue,
                    "state": state,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def get(
        self,
        id: str,
    ) -> m.Job:
        """Read a job."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/jobs/{id}",
                m.Job,
                path={
                    "id": id,
                },
            )
        )

    async def history(
        self,
        *,
        minutes: int | None = None,
    ) -> List[m.QueueMinute]:
        """List the jobs that ended lately, by queue and minute. Minutes without any are left out.

        Args:
            minutes: The last minutes, 1 to 1,440. Default: 60.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/queues/history",
                List[m.QueueMinute],
                query={
                    "minutes": minutes,
                },
            )
        )

    async def list(
        self,
        *,
        queue: str | None = None,
        state: Literal["due", "waiting", "parked", "running", "done", "dead"] | None = None,
        namespace: str | None = None,
        node: int | None = None,
        error: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> m.JobPage:
        """List jobs: dead letters, then parked, then failed ones; the newest first.

        Args:
            queue: The queue.
            state: The state. Default: any but done.
            namespace: The namespace of their memories.
            node: Their memory.
            error: A part of their last error, in upper or lower case.
            cursor: `next` of the previous page.
            limit: The most jobs, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/jobs",
                m.JobPage,
                query={
                    "queue": queue,
                    "state": state,
                    "namespace": namespace,
                    "node": node,
                    "error": error,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def pause_queue(
        self,
        queue: str,
        reason: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Paused:
        """Pause a queue: no job is claimed until it is resumed; running jobs finish.

        Args:
            reason: The reason, for people.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/queues/{queue}/pause",
                m.Paused,
                path={
                    "queue": queue,
                },
                body={
                    "reason": reason,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def queues(
        self,
    ) -> List[m.QueueStats]:
        """List queues with the number of their jobs by state."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/queues",
                List[m.QueueStats],
            )
        )

    async def repair(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> m.ChangedJobs:
        """Enqueue the jobs that the audit finds missing."""
        return await self._sender.send(
            Call(
                "POST",
                "/v1/jobs/repair",
                m.ChangedJobs,
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def resume_queue(
        self,
        queue: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Paused:
        """Resume a queue."""
        return await self._sender.send(
            Call(
                "POST",
                "/v1/queues/{queue}/resume",
                m.Paused,
                path={
                    "queue": queue,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def retry(
        self,
        *,
        confirm: bool | None = None,
        error: str | None = None,
        ids: Sequence[str] | None = None,
        namespace: str | None = None,
        node: int | None = None,
        queue: str | None = None,
        state: Literal["due", "waiting", "parked", "running", "done", "dead"] | None = None,
        idempotency_key: str | None = None,
    ) -> m.Retried:
        """Retry waiting, parked or dead jobs as if they were new.

        Without a state, the conditions select dead letters.

        Args:
            confirm: More than one job is cancelled only with it.
            error: A part of their last error, in upper or lower case.
            ids: The jobs with these ids; the conditions must be empty then.
            namespace: The namespace of their memories.
            node: Their memory.
            queue: The queue.
            state: The state.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/jobs/retry",
                m.Retried,
                body={
                    "confirm": confirm,
                    "error": error,
                    "ids": ids,
                    "namespace": namespace,
                    "node": node,
                    "queue": queue,
                    "state": state,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def workers(
        self,
    ) -> List[m.Worker]:
        """List workers, those alive first."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/workers",
                List[m.Worker],
            )
        )


class AsyncKeys:
    """Keys."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def audit(
        self,
        *,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> m.AuditLog:
        """List who did what.

        It has changes of keys, limits, policies, robots, models and the ontology, and deletions.

        Args:
            cursor: `next` of the previous page.
            limit: The most entries, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/audit",
                m.AuditLog,
                query={
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def create(
        self,
        role: Literal["reader", "writer", "admin"],
        *,
        expires_in_seconds: int | None = None,
        name: str | None = None,
        namespaces: Sequence[str] | None = None,
        requests_per_minute: int | None = None,
        robot: str | None = None,
    ) -> m.CreatedApiKey:
        """Create a key.

        The answer has the whole key. It cannot be read again.

        Args:
            expires_in_seconds: The seconds until it expires. Null: never.
            name: A name for people.
            namespaces: Its namespaces; `tenant-7/*` stands for every namespace below `tenant-7`.
                Null: all. An empty list is refused.
            requests_per_minute: The most requests a minute, over all servers. Null: no limit.
            robot: The robot of its requests. Null: each request names its own.
            role: The role of its holder.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/keys",
                m.CreatedApiKey,
                body={
                    "expires_in_seconds": expires_in_seconds,
                    "name": name,
                    "namespaces": namespaces,
                    "requests_per_minute": requests_per_minute,
                    "robot": robot,
                    "role": role,
                },
                may_be_repeated=False,
            )
        )

    async def list(
        self,
    ) -> m.Keys:
        """List the keys."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/keys",
                m.Keys,
            )
        )

    async def revoke(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.ApiKey:
        """Revoke a key.

        This server refuses it at once, others within a second.

        Args:
            id: The visible part of the key, or the whole key; prefer the part, since proxies log
                URLs.
        """
        return await self._sender.send(
            Call(
                "DELETE",
                "/v1/keys/{id}",
                m.ApiKey,
                path={
                    "id": id,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncLearning:
    """Learning."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def activate(
        self,
        version: int,
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Rankings:
        """Order the hits of a namespace by a version from now on.

        Args:
            namespace: The namespace. Default: the server's.
            version: The version; 0 is the default ranking.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/rankings/activate",
                m.Rankings,
                body={
                    "namespace": namespace,
                    "version": version,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def compare(
        self,
        version: int,
        *,
        namespace: str | None = None,
    ) -> m.RankingComparison:
        """Compare a ranking that was tried on live recalls with the one that answered.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/rankings/{version}/comparison",
                m.RankingComparison,
                path={
                    "version": version,
                },
                query={
                    "namespace": namespace,
                },
            )
        )

    async def feedback(
        self,
        id: str,
        *,
        used: Sequence[int] | None = None,
        useless: Sequence[int] | None = None,
        idempotency_key: str | None = None,
    ) -> m.FeedbackReceipt:
        """Judge a recall.

        Recalls have a `recall_id` where learning is on; `last` is the last recall with the same
        key. A later verdict on a memory replaces the earlier one of the same key.

        Args:
            used: The memories that were used.
            useless: The memories that were useless.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/recalls/{id}/feedback",
                m.FeedbackReceipt,
                path={
                    "id": id,
                },
                body={
                    "used": used,
                    "useless": useless,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def learning(
        self,
        *,
        namespace: str | None = None,
    ) -> m.Learning:
        """Read what a namespace keeps of its recalls, and who judges them.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/learning",
                m.Learning,
                query={
                    "namespace": namespace,
                },
            )
        )

    async def ranking(
        self,
        version: int,
        *,
        namespace: str | None = None,
    ) -> m.RankingInfo:
        """Show a learnt ranking: what it weighs, from what it was learnt, and how sure it is.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/rankings/{version}",
                m.RankingInfo,
                path={
                    "version": version,
                },
                query={
                    "namespace": namespace,
                },
            )
        )

    async def rankings(
        self,
        *,
        namespace: str | None = None,
    ) -> m.Rankings:
        """List the learnt rankings of a namespace, and which one is used.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/rankings",
                m.Rankings,
                query={
                    "namespace": namespace,
                },
            )
        )

    async def revert(
        self,
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Rankings:
        """Order the hits of a namespace by the version before the present one again.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/rankings/revert",
                m.Rankings,
                body={
                    "namespace": namespace,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def set_learning(
        self,
        is_on: bool,
        *,
        keep_days: int | None = None,
        keeps_text: bool | None = None,
        learns_with: str | None = None,
        least: int | None = None,
        namespace: str | None = None,
        signals: Sequence[Literal["read", "edited", "forgotten", "cited"]] | None = None,
        idempotency_key: str | None = None,
    ) -> m.Learning:
        """Set what a namespace keeps of its recalls.

        Args:
            is_on: Whether recalls are kept, so that they can be judged.
            keep_days: The days for which a judged recall is kept, 1 to 3,650. Default: 90.
            keeps_text: Whether the texts of queries are kept too. Default: false.
            learns_with: The namespace whose ranking it shares. Default: its own.
            least: The number of judged recalls from which a ranking is learnt, 20 to 100,000.
                Default: 100.
            namespace: The namespace. Default: the server's.
            signals: The signals that count beside feedback. Default: none.
        """
        return await self._sender.send(
            Call(
                "PUT",
                "/v1/learning",
                m.Learning,
                body={
                    "is_on": is_on,
                    "keep_days": keep_days,
                    "keeps_text": keeps_text,
                    "learns_with": learns_with,
                    "least": least,
                    "namespace": namespace,
                    "signals": signals,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def try_ranking(
        self,
        *,
        kind: Literal["shadow", "interleaved"] | None = None,
        namespace: str | None = None,
        version: int | None = None,
        idempotency_key: str | None = None,
    ) -> m.Rankings:
        """Try a version on live recalls, in the shadow or interleaved.

        Args:
            kind: The way. Default: shadow.
            namespace: The namespace. Default: the server's.
            version: The version; null ends the trial.
        """
        return await self._sender.send(
            Call(
                "PUT",
                "/v1/rankings/trial",
                m.Rankings,
                body={
                    "kind": kind,
                    "namespace": namespace,
                    "version": version,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncMembers:
    """Members."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def add(
        self,
        name: str,
        robot: str,
        *,
        membership: str,
        nodes: Sequence[int],
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Evicted:
        """Add memories to a group's working memory, as an active member.

        Args:
            membership: The membership.
            namespace: The namespace. Default: the server's.
            nodes: The ids of the memories. Of equally important ones, the last is evicted last.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/members/{robot}/add",
                m.Evicted,
                path={
                    "name": name,
                    "robot": robot,
                },
                body={
                    "membership": membership,
                    "namespace": namespace,
                    "nodes": nodes,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def context(
        self,
        name: str,
        robot: str,
        membership: str,
        *,
        filter: m.FilterBody | dict[str, Any] | None = None,
        header: bool | None = None,
        max_tokens: int | None = None,
        namespace: str | None = None,
        order: str | None = None,
        separator: str | None = None,
    ) -> m.Context:
        """Make the text for a prompt from a group's working memory.

        Args:
            filter: The memories of the context. Default: the whole working memory.
            header: Whether each memory has a line with its age, its source, and the memory that
                supersedes it.
            max_tokens: The most tokens of the text, 1 to 1,000,000. Default: 4,000.
            membership: The membership.
            namespace: The namespace. Default: the server's.
            order: The order: recent, important, frequent, balanced. Default: balanced.
            separator: The separator between two memories, up to 1,024 characters. Default: an empty
                line.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/members/{robot}/context",
                m.Context,
                path={
                    "name": name,
                    "robot": robot,
                },
                body={
                    "filter": filter,
                    "header": header,
                    "max_tokens": max_tokens,
                    "membership": membership,
                    "namespace": namespace,
                    "order": order,
                    "separator": separator,
                },
            )
        )

    async def heartbeat(
        self,
        name: str,
        robot: str,
        membership: str,
        *,
        namespace: str | None = None,
        version: int | None = None,
    ) -> m.GroupNews:
        """Renew the lease of a member, and read what has changed.

        Args:
            membership: The membership.
            namespace: The namespace. Default: the server's.
            version: The version of the working memory that the member has. Default: none; the
                answer has the whole working memory.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/members/{robot}/heartbeat",
                m.GroupNews,
                path={
                    "name": name,
                    "robot": robot,
                },
                body={
                    "membership": membership,
                    "namespace": namespace,
                    "version": version,
                },
            )
        )

    async def join(
        self,
        name: str,
        robot: str,
        *,
        lease_ms: int | None = None,
        max_tokens: int | None = None,
        namespace: str | None = None,
        role: Literal["active", "passive"] | None = None,
    ) -> m.Joined:
        """Join a group as a robot; the group is made if needed.

        An earlier membership of the robot is replaced, also that of a process.

        Args:
            lease_ms: The time between two heartbeats after which it is lost, in milliseconds, 100
                to 86,400,000. Default: 30,000.
            max_tokens: The token budget of the group, if this is its first member. Default:
                128,000.
            namespace: The namespace. Default: the server's.
            robot: The robot.
            role: Its role. Default: active if no other active member is alive, otherwise passive.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/members",
                m.Joined,
                path={
                    "name": name,
                },
                body={
                    "lease_ms": lease_ms,
                    "max_tokens": max_tokens,
                    "namespace": namespace,
                    "robot": robot,
                    "role": role,
                },
            )
        )

    async def leave(
        self,
        name: str,
        robot: str,
        membership: str,
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Left:
        """Leave a group. A passive member takes over from the only active one.

        Args:
            namespace: The namespace. Default: the server's.
            membership: The membership.
        """
        return await self._sender.send(
            Call(
                "DELETE",
                "/v1/groups/{name}/members/{robot}",
                m.Left,
                path={
                    "name": name,
                    "robot": robot,
                },
                query={
                    "namespace": namespace,
                    "membership": membership,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def remove(
        self,
        name: str,
        robot: str,
        *,
        membership: str,
        node: int,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.RemovedFromGroup:
        """Remove a memory from a group's working memory, as an active member.

        Args:
            membership: The membership.
            namespace: The namespace. Default: the server's.
            node: The id of the memory.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/members/{robot}/remove",
                m.RemovedFromGroup,
                path={
                    "name": name,
                    "robot": robot,
                },
                body={
                    "membership": membership,
                    "namespace": namespace,
                    "node": node,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def transfer(
        self,
        name: str,
        robot: str,
        membership: str,
        *,
        namespace: str | None = None,
        nodes: Sequence[int] | None = None,
        to_group: str | None = None,
        to_robot: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.TransferReceipt:
        """Transfer memories of the group's working memory to another group or to a robot, as an active
        member.

        Args:
            membership: The membership.
            namespace: The namespace. Default: the server's.
            nodes: These memories. Default: all.
            to_group: To the working memory of this group,
            to_robot: or to that of this robot.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/groups/{name}/members/{robot}/transfer",
                m.TransferReceipt,
                path={
                    "name": name,
                    "robot": robot,
                },
                body={
                    "membership": membership,
                    "namespace": namespace,
                    "nodes": nodes,
                    "to_group": to_group,
                    "to_robot": to_robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncMemories:
    """Memories."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def create(
        self,
        content: str,
        *,
        wait: Literal["embed", "tag", "all"] | None = None,
        wait_ms: int | None = None,
        created_at: datetime | None = None,
        expires_at: datetime | None = None,
        importance: float | None = None,
        key: str | None = None,
        language: str | None = None,
        metadata: dict[str, Any] | None = None,
        namespace: str | None = None,
        robot: str | None = None,
        seq: int | None = None,
        session: str | None = None,
        source: str | None = None,
        speaker: str | None = None,
        tags: Sequence[str] | None = None,
        ttl_seconds: int | None = None,
        type: str | None = None,
        vectors: dict[str, Sequence[float]] | None = None,
        idempotency_key: str | None = None,
    ) -> m.Written:
        """Remember a memory.

        It is committed when this answers, and full text finds it at once. 201: it is new. 200: it
        existed, by its key or its content.

        Args:
            wait: Answer only when this is done, or when the time is over. The write is committed in
                any case.
            wait_ms: The time to wait in milliseconds, at most 30,000. Default: 10,000.
            content: The text: 1 byte to 1 MiB, not only white space.
            created_at: When it happened. Default: now.
            expires_at: When it expires. Default: never.
            importance: Its importance, 1 to 10: 1–3 for transient facts, 7–10 for decisions and
                preferences. Default: 1.
            key: Its key, unique in its namespace.
            language: The PostgreSQL text search configuration that stems it. Default: the server's.
            metadata: Its metadata: an object of at most 64 KiB, 64 levels deep.
            namespace: Its namespace. Default: the server's.
            robot: The robot that remembers. Default: the server's.
            seq: Its position in the conversation.
            session: Its conversation.
            source: Its source: a file, a chat, a URL.
            speaker: Its speaker.
            tags: Tags; the tag-worker adds its own.
            ttl_seconds: Instead of `expires_at`: the seconds from now to its expiry. A refresh
                starts them again.
            type: Its kind: `fact`, `decision`, `question`, …
            vectors: Its vectors, by the labels of models whose vectors callers bring.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/memories",
                m.Written,
                query={
                    "wait": wait,
                    "wait_ms": wait_ms,
                },
                body={
                    "content": content,
                    "created_at": created_at,
                    "expires_at": expires_at,
                    "importance": importance,
                    "key": key,
                    "language": language,
                    "metadata": metadata,
                    "namespace": namespace,
                    "robot": robot,
                    "seq": seq,
                    "session": session,
                    "source": source,
                    "speaker": speaker,
                    "tags": tags,
                    "ttl_seconds": ttl_seconds,
                    "type": type,
                    "vectors": vectors,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def create_many(
        self,
        memories: Sequence[m.NewMemory | dict[str, Any]],
        *,
        wait: Literal["embed", "tag", "all"] | None = None,
        wait_ms: int | None = None,
        any_robot: bool | None = None,
        replaces: Sequence[m.Replaced | dict[str, Any]] | None = None,
        robot: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.ManyWritten:
        """Remember many memories in one transaction.

        The answer is 200 with a receipt or a problem for each: a memory that is refused does not
        hold back the others. If they replace conversations, all are written or none, and the answer
        is the problem.

        Args:
            wait: Answer only when this is done, or when the time is over. The write is committed in
                any case.
            wait_ms: The time to wait in milliseconds, at most 30,000. Default: 10,000.
            any_robot: Whether memories of any robot may be replaced.
            memories: The memories, at most 1,000.
            replaces: The conversations that the memories take the place of, at most 1,000: what
                these have is forgotten in the same transaction. All is done then, or nothing. A
                memory without `created_at` gets that of its conversation's first one.
            robot: The robot that replaces what it remembered. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/memories/batch",
                m.ManyWritten,
                query={
                    "wait": wait,
                    "wait_ms": wait_ms,
                },
                body={
                    "any_robot": any_robot,
                    "memories": memories,
                    "replaces": replaces,
                    "robot": robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def edit(
        self,
        id: int,
        *,
        wait: Literal["embed", "tag", "all"] | None = None,
        wait_ms: int | None = None,
        add_tags: Sequence[str] | Unset = UNSET,
        any_robot: bool | Unset = UNSET,
        content: str | None | Unset = UNSET,
        expires_at: datetime | None | Unset = UNSET,
        importance: float | None | Unset = UNSET,
        key: str | None | Unset = UNSET,
        metadata: dict[str, Any] | Unset = UNSET,
        namespace: str | None | Unset = UNSET,
        remove_tags: Sequence[str] | Unset = UNSET,
        robot: str | None | Unset = UNSET,
        source: str | None | Unset = UNSET,
        ttl_seconds: int | None | Unset = UNSET,
        type: str | None | Unset = UNSET,
        if_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> m.EditedNow:
        """Edit a memory.

        With `If-Match`, it fails if the text has another revision by now (412).

        Args:
            wait: Answer only when this is done, or when the time is over. The write is committed in
                any case.
            wait_ms: The time to wait in milliseconds, at most 30,000. Default: 10,000.
            add_tags: Tags to add.
            any_robot: Whether a memory of any robot may be changed.
            content: The new text.
            expires_at: When it expires; null: never.
            importance: 1 to 10.
            key: Its key; null removes it.
            metadata: Entries to set; null removes one.
            namespace: The namespace of the robot that edits. Default: the server's.
            remove_tags: Tags to remove.
            robot: The robot that edits: it may change what it remembered. Default: the server's.
            source: Its source; null removes it.
            ttl_seconds: Instead of `expires_at`: the seconds from now to its expiry.
            type: Its kind; null removes it.
        """
        return await self._sender.send(
            Call(
                "PATCH",
                "/v1/memories/{id}",
                m.EditedNow,
                path={
                    "id": id,
                },
                query={
                    "wait": wait,
                    "wait_ms": wait_ms,
                },
                body={
                    "add_tags": add_tags,
                    "any_robot": any_robot,
                    "content": content,
                    "expires_at": expires_at,
                    "importance": importance,
                    "key": key,
                    "metadata": metadata,
                    "namespace": namespace,
                    "remove_tags": remove_tags,
                    "robot": robot,
                    "source": source,
                    "ttl_seconds": ttl_seconds,
                    "type": type,
                },
                if_revision=if_revision,
                takes_key=True,
                idempotency_key=idempotency_key,
                keeps_null=True,
            )
        )

    async def forget(
        self,
        id: int,
        *,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        confirm: bool | None = None,
        erase: bool | None = None,
        if_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> m.Forgotten | m.Erasure:
        """Forget a memory, or erase it.

        Nothing finds a forgotten memory; it can be restored until it is purged. With `If-Match`, it
        fails if the text has another revision by now (412).

        Args:
            namespace: The namespace of the robot that forgets. Default: the server's.
            robot: The robot that forgets: it may forget what it remembered. Default: the server's.
            any_robot: Whether a memory of any robot may be forgotten.
            confirm: The act is refused without it.
            erase: Whether the memory is erased with every trace, at once and for all robots. It
                cannot be undone. Needs the role admin.
        """
        return await self._sender.send(
            Call(
                "DELETE",
                "/v1/memories/{id}",
                m.Forgotten | m.Erasure,
                path={
                    "id": id,
                },
                query={
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                    "confirm": confirm,
                    "erase": erase,
                },
                if_revision=if_revision,
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def forget_matching(
        self,
        text: str,
        *,
        any_robot: bool | None = None,
        confirm: bool | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        robot: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.MatchingForgotten:
        """Forget the memories that match a text.

        Args:
            any_robot: Whether memories of any robot may be forgotten.
            confirm: The act is refused without it.
            dry_run: Answers with the plan, and forgets nothing.
            namespace: The namespace. Default: the server's.
            robot: The robot that forgets: it may forget what it remembered. Default: the server's.
            text: The words that they contain.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/memories/forget",
                m.MatchingForgotten,
                body={
                    "any_robot": any_robot,
                    "confirm": confirm,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "robot": robot,
                    "text": text,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def forgotten(
        self,
        *,
        namespace: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> m.ForgottenPage:
        """List forgotten memories, the latest first.

        Args:
            namespace: The namespace. Default: the server's.
            cursor: `next` of the previous page.
            limit: The most memories, 1 to 10,000. Default: 20.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/forgotten",
                m.ForgottenPage,
                query={
                    "namespace": namespace,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def get(
        self,
        id: int,
        *,
        as_of: str | None = None,
    ) -> m.Node:
        """Read a memory.

        The ETag is the revision of its text, for `If-Match`. Other changes do not make a new one,
        so that `If-None-Match` has no effect.

        With `as_of`, it is as it stood at that time, with the text that it had.

        Args:
            as_of: The time as of which the memory is read: a date, an RFC 3339 time, or words.
                Default: now.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/{id}",
                m.Node,
                path={
                    "id": id,
                },
                query={
                    "as_of": as_of,
                },
            )
        )

    async def get_by_key(
        self,
        key: str,
        *,
        namespace: str | None = None,
    ) -> m.Node:
        """Read a memory by its key.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/by-key/{key}",
                m.Node,
                path={
                    "key": key,
                },
                query={
                    "namespace": namespace,
                },
            )
        )

    async def history(
        self,
        id: int,
    ) -> List[m.Revision]:
        """List the texts that a memory has had, the oldest first."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/{id}/history",
                List[m.Revision],
                path={
                    "id": id,
                },
            )
        )

    async def keepers(
        self,
        id: int,
    ) -> m.Keepers:
        """List who keeps a memory: robots that remembered it, and groups that have it in their working
        memory.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/{id}/keepers",
                m.Keepers,
                path={
                    "id": id,
                },
            )
        )

    async def list(
        self,
        *,
        namespace: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> m.Page:
        """List the memories of a namespace in the order of their time.

        Args:
            namespace: The namespace. Default: the server's.
            cursor: `next` of the previous page.
            limit: The most memories, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories",
                m.Page,
                query={
                    "namespace": namespace,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def neighbours(
        self,
        id: int,
        *,
        before: int | None = None,
        after: int | None = None,
    ) -> m.Neighbours:
        """List what was said before and after a memory.

        Args:
            before: The most memories before it, 0 to 1,000. Default: 3.
            after: The most memories after it, 0 to 1,000. Default: 3.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/{id}/neighbours",
                m.Neighbours,
                path={
                    "id": id,
                },
                query={
                    "before": before,
                    "after": after,
                },
            )
        )

    async def refresh(
        self,
        id: int,
        *,
        idempotency_key: str | None = None,
    ) -> m.Refreshed:
        """Start a memory's time to live again."""
        return await self._sender.send(
            Call(
                "POST",
                "/v1/memories/{id}/refresh",
                m.Refreshed,
                path={
                    "id": id,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def relate(
        self,
        id: int,
        *,
        kind: Literal["supersedes", "contradicts"],
        to: int,
        any_robot: bool | None = None,
        namespace: str | None = None,
        reason: str | None = None,
        robot: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Relating:
        """Say that a memory supersedes or contradicts another one.

        Both are in one namespace. A relation that is set already stays as it is: 200 instead of
        201.

        Args:
            any_robot: Whether the memory of the path may be of any robot.
            kind: The kind.
            namespace: The namespace of the robot that says so. Default: the server's.
            reason: The reason.
            robot: The robot that says so: it must have first remembered the memory of the path.
                Default: the server's.
            to: The memory that is superseded or contradicted.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/memories/{id}/relations",
                m.Relating,
                path={
                    "id": id,
                },
                body={
                    "any_robot": any_robot,
                    "kind": kind,
                    "namespace": namespace,
                    "reason": reason,
                    "robot": robot,
                    "to": to,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def related(
        self,
        id: int,
        *,
        kind: Literal["supersedes", "superseded_by", "contradicts", "near_duplicate", "shared_tags"] | None = None,
        limit: int | None = None,
    ) -> m.Related:
        """List what a memory is related to.

        Relations that were set come first, then near-duplicates by the vectors, then memories with
        the same rare tags.

        Args:
            kind: Only those that are related in this way. Default: in any.
            limit: The most memories of each kind, 1 to 10,000. Default: 10.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/{id}/relations",
                m.Related,
                path={
                    "id": id,
                },
                query={
                    "kind": kind,
                    "limit": limit,
                },
            )
        )

    async def restore(
        self,
        id: int,
        *,
        any_robot: bool | None = None,
        namespace: str | None = None,
        robot: str | None = None,
        if_revision: int | None = None,
        idempotency_key: str | None = None,
    ) -> m.Restored:
        """Restore a forgotten memory.

        With `If-Match`, it fails if the text has another revision by now (412).

        Args:
            any_robot: Whether a memory of any robot may be restored.
            namespace: The namespace of the robot that restores. Default: the server's.
            robot: The robot that restores: it may restore what it remembered. Default: the
                server's.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/memories/{id}/restore",
                m.Restored,
                path={
                    "id": id,
                },
                body={
                    "any_robot": any_robot,
                    "namespace": namespace,
                    "robot": robot,
                },
                if_revision=if_revision,
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def set_vector(
        self,
        id: int,
        *,
        model: str,
        revision: int,
        vector: Sequence[float],
        any_robot: bool | None = None,
        namespace: str | None = None,
        robot: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.VectorSet:
        """Set the vector of a memory, by a model whose vectors callers bring.

        If the text has another revision by now, it is refused (409).

        Args:
            any_robot: Whether a memory of any robot may be changed.
            model: The label of the model, such as `caller/mine`.
            namespace: The namespace of the robot that brings it. Default: the server's.
            revision: The revision of the text that it was made of.
            robot: The robot that brings it: it may change what it remembered. Default: the
                server's.
            vector: Its numbers, as many as the model has dimensions.
        """
        return await self._sender.send(
            Call(
                "PUT",
                "/v1/memories/{id}/vector",
                m.VectorSet,
                path={
                    "id": id,
                },
                body={
                    "any_robot": any_robot,
                    "model": model,
                    "namespace": namespace,
                    "revision": revision,
                    "robot": robot,
                    "vector": vector,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def status(
        self,
        id: int,
    ) -> m.NodeStatus:
        """Read the state of a memory's embedding and tagging."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/{id}/status",
                m.NodeStatus,
                path={
                    "id": id,
                },
            )
        )

    async def tags(
        self,
        id: int,
    ) -> List[m.TagAssignment]:
        """List the tags of a memory, each with who set it and how sure that was."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/memories/{id}/tags",
                List[m.TagAssignment],
                path={
                    "id": id,
                },
            )
        )

    async def unrelate(
        self,
        id: int,
        *,
        kind: Literal["supersedes", "contradicts"],
        to: int,
        namespace: str | None = None,
        robot: str | None = None,
        any_robot: bool | None = None,
        idempotency_key: str | None = None,
    ) -> m.Relation:
        """Remove a relation of a memory to another one.

        Args:
            kind: The kind.
            to: The memory that is superseded or contradicted.
            namespace: The namespace of the robot that removes it. Default: the server's.
            robot: The robot that removes it: it must have first remembered the memory of the path.
                Default: the server's.
            any_robot: Whether the memory of the path may be of any robot. Default: false.
        """
        return await self._sender.send(
            Call(
                "DELETE",
                "/v1/memories/{id}/relations",
                m.Relation,
                path={
                    "id": id,
                },
                query={
                    "kind": kind,
                    "to": to,
                    "namespace": namespace,
                    "robot": robot,
                    "any_robot": any_robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncModels:
    """Models."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def activate(
        self,
        label: str,
        *,
        force: bool | None = None,
        idempotency_key: str | None = None,
    ) -> m.Activation:
        """Make a model the one that recall uses; the old one goes on standby.

        Args:
            force: Whether memories that vectors find now may be lost to them.
            label: Its label.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/models/activate",
                m.Activation,
                body={
                    "force": force,
                    "label": label,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def add(
        self,
        *,
        dimensions: int,
        name: str,
        idempotency_key: str | None = None,
    ) -> m.RegisteredModel:
        """Add an embedding model whose vectors callers bring.

        The first model of a database is active at once. Another one is activated by `POST
        /v1/models/activate`.

        Args:
            dimensions: The length of its vectors, 1 to 4,000.
            name: Its name. The label is `caller/` and the name.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/models",
                m.RegisteredModel,
                body={
                    "dimensions": dimensions,
                    "name": name,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def budgets(
        self,
    ) -> List[m.Budget]:
        """List the namespaces that have a budget of tokens."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/budgets",
                List[m.Budget],
            )
        )

    async def list(
        self,
    ) -> List[m.Model]:
        """List the embedding models with their progress. Reads every memory."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/models",
                List[m.Model],
            )
        )

    async def providers(
        self,
    ) -> List[m.Provider]:
        """List the models of providers that have limits or have failed."""
        return await self._sender.send(
            Call(
                "GET",
                "/v1/providers",
                List[m.Provider],
            )
        )

    async def reset_provider(
        self,
        model: str,
        *,
        idempotency_key: str | None = None,
    ) -> m.Reset:
        """Forget the failures of a provider's model: its breaker closes, and its jobs are due.

        Args:
            model: The model, such as `openai/text-embedding-3-small`.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/providers/reset",
                m.Reset,
                body={
                    "model": model,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def retire(
        self,
        label: str,
        *,
        drop: bool | None = None,
        idempotency_key: str | None = None,
    ) -> m.RetiredModel:
        """Retire a model: writes to it end, and its open jobs and dead letters are deleted.

        Args:
            drop: Whether its vectors are deleted too.
            label: Its label.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/models/retire",
                m.RetiredModel,
                body={
                    "drop": drop,
                    "label": label,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def set_budget(
        self,
        namespace: str,
        *,
        tokens_per_day: int | None = None,
        idempotency_key: str | None = None,
    ) -> m.Reset:
        """Set the budget of a namespace.

        Args:
            namespace: The namespace.
            tokens_per_day: The tokens that it may spend a day. Null: any number.
        """
        return await self._sender.send(
            Call(
                "PUT",
                "/v1/budgets",
                m.Reset,
                body={
                    "namespace": namespace,
                    "tokens_per_day": tokens_per_day,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def set_limits(
        self,
        model: str,
        *,
        concurrent_calls: int | None | Unset = UNSET,
        requests_per_minute: int | None | Unset = UNSET,
        tokens_per_minute: int | None | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> List[m.Provider]:
        """Limit the calls to a provider's model.

        Args:
            concurrent_calls: Concurrent calls, at least 1.
            model: The model, such as `openai/text-embedding-3-small`.
            requests_per_minute: Requests a minute, at least 1.
            tokens_per_minute: Tokens a minute, at least 1.
        """
        return await self._sender.send(
            Call(
                "PATCH",
                "/v1/providers",
                List[m.Provider],
                body={
                    "concurrent_calls": concurrent_calls,
                    "model": model,
                    "requests_per_minute": requests_per_minute,
                    "tokens_per_minute": tokens_per_minute,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
                keeps_null=True,
            )
        )

    async def usage(
        self,
        *,
        days: int | None = None,
    ) -> List[m.TokenUsage]:
        """List the tokens of the memories that models have processed lately, by day, stage and model.

        Args:
            days: The last days (UTC), today included, 1 to 366. Default: 7.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/usage",
                List[m.TokenUsage],
                query={
                    "days": days,
                },
            )
        )


class AsyncNamespaces:
    """Namespaces."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def list(
        self,
        *,
        prefix: str | None = None,
        suffix: str | None = None,
        depth: int | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> m.Namespaces:
        """List namespaces.

        Args:
            prefix: The first labels; the label `*` stands for any.
            suffix: The last labels; the label `*` stands for any.
            depth: The most labels: deeper namespaces are cut to these, and each is listed once.
            cursor: `next` of the previous page.
            limit: The most namespaces, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/namespaces",
                m.Namespaces,
                query={
                    "prefix": prefix,
                    "suffix": suffix,
                    "depth": depth,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def purge(
        self,
        before: datetime,
        *,
        all: bool | None = None,
        any_robot: bool | None = None,
        confirm: bool | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        robot: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Purged:
        """Delete forgotten memories. It cannot be undone.

        Args:
            all: Whether to purge all namespaces.
            any_robot: Whether memories of any robot may be purged.
            before: Memories that were forgotten before this time.
            confirm: The act is refused without it.
            dry_run: Answers with the counts, and deletes nothing.
            namespace: The namespace. Default: the server's.
            robot: The robot that purges what it remembered. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/purge",
                m.Purged,
                body={
                    "all": all,
                    "any_robot": any_robot,
                    "before": before,
                    "confirm": confirm,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "robot": robot,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def quota(
        self,
        *,
        namespace: str | None = None,
    ) -> m.QuotaAndUse:
        """Read the quota of a namespace, and what it uses of it.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/quotas",
                m.QuotaAndUse,
                query={
                    "namespace": namespace,
                },
            )
        )

    async def retention(
        self,
        *,
        namespace: str | None = None,
    ) -> m.Retention:
        """Read the retention policy of a namespace.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/retention",
                m.Retention,
                query={
                    "namespace": namespace,
                },
            )
        )

    async def set_quota(
        self,
        *,
        max_bytes: int | None | Unset = UNSET,
        max_memories: int | None | Unset = UNSET,
        namespace: str | None | Unset = UNSET,
        requests_per_minute: int | None | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> m.QuotaAndUse:
        """Change the quota of a namespace, with a key of all namespaces.

        Only the given limits change.

        Args:
            max_bytes: The most bytes of their texts.
            max_memories: The most live memories.
            namespace: The namespace. Default: the server's.
            requests_per_minute: The most requests a minute, of keys and tokens that see the
                namespace and no other. `tenant-7/*` counts those of all namespaces below
                `tenant-7`.
        """
        return await self._sender.send(
            Call(
                "PATCH",
                "/v1/quotas",
                m.QuotaAndUse,
                body={
                    "max_bytes": max_bytes,
                    "max_memories": max_memories,
                    "namespace": namespace,
                    "requests_per_minute": requests_per_minute,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
                keeps_null=True,
            )
        )

    async def set_retention(
        self,
        *,
        confirm: bool | Unset = UNSET,
        dry_run: bool | Unset = UNSET,
        forget_after_seconds: int | None | Unset = UNSET,
        namespace: str | None | Unset = UNSET,
        purge_after_seconds: int | None | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> m.RetentionPlan:
        """Change the retention policy of a namespace.

        Only the given times change. Answers what the next sweep will remove by it, and not by the
        policy before.

        Args:
            confirm: A policy by which the next sweep removes something is refused without it.
            dry_run: Answers with the plan, and sets nothing.
            forget_after_seconds: The age in seconds at which a memory is forgotten.
            namespace: The namespace. Default: the server's.
            purge_after_seconds: The time in seconds from forgetting to deletion.
        """
        return await self._sender.send(
            Call(
                "PATCH",
                "/v1/retention",
                m.RetentionPlan,
                body={
                    "confirm": confirm,
                    "dry_run": dry_run,
                    "forget_after_seconds": forget_after_seconds,
                    "namespace": namespace,
                    "purge_after_seconds": purge_after_seconds,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
                keeps_null=True,
            )
        )

    async def stats(
        self,
        *,
        namespace: str | None = None,
        all: bool | None = None,
        top: int | None = None,
    ) -> m.MemoryStats:
        """Count memories, robots, tags, jobs and storage.

        Args:
            namespace: The namespace. Default: the server's.
            all: Whether to count all namespaces.
            top: The most rows of each list. Default: 10.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/stats",
                m.MemoryStats,
                query={
                    "namespace": namespace,
                    "all": all,
                    "top": top,
                },
            )
        )

    async def sweep(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> m.Swept:
        """Forget what has expired, and carry out the retention policies now."""
        return await self._sender.send(
            Call(
                "POST",
                "/v1/sweep",
                m.Swept,
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncRecall:
    """Recall."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def context(
        self,
        robot: str,
        *,
        correct: bool | None = None,
        filter: m.FilterBody | dict[str, Any] | None = None,
        header: bool | None = None,
        limit: int | None = None,
        max_tokens: int | None = None,
        order: str | None = None,
        query: str | None = None,
        separator: str | None = None,
        strategy: Literal["vector", "fulltext", "hybrid", "auto"] | None = None,
    ) -> m.ContextAnswer:
        """Make the text for a prompt from a robot's working memory.

        Args:
            correct: Whether unknown words of the query are spell-corrected. Default: true.
            filter: The memories of the context, and of the query.
            header: Whether each memory has a line with its age, its source, and the memory that
                supersedes it.
            limit: The most hits of the query. Default: 20.
            max_tokens: The most tokens of the text, 1 to 1,000,000. Default: 4,000.
            order: The order of the memories after the hits: recent, important, frequent, balanced.
                Default: balanced.
            query: Recalls this first: the hits enter the working memory, and come first in the
                text, the best one first. Needs a writer's key.
            robot: The robot whose working memory it is. A query registers a new one.
            separator: The separator between two memories, up to 1,024 characters. Default: an empty
                line.
            strategy: How the query is searched. Default: hybrid.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/context",
                m.ContextAnswer,
                body={
                    "correct": correct,
                    "filter": filter,
                    "header": header,
                    "limit": limit,
                    "max_tokens": max_tokens,
                    "order": order,
                    "query": query,
                    "robot": robot,
                    "separator": separator,
                    "strategy": strategy,
                },
            )
        )

    async def counts(
        self,
        step: Literal["year", "month", "week", "day", "hour", "minute"],
        *,
        by: Literal["time", "robot", "tag"] | None = None,
        filter: m.FilterBody | dict[str, Any] | None = None,
        limit: int | None = None,
    ) -> List[m.TimeCount]:
        """Count memories over time, the earliest first. Steps without any are left out.

        Args:
            by: The division of each step. Default: none.
            filter: The counted memories.
            limit: The most counts, 1 to 10,000. Default: 1,000.
            step: The step of time, in UTC.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/timeline/counts",
                List[m.TimeCount],
                body={
                    "by": by,
                    "filter": filter,
                    "limit": limit,
                    "step": step,
                },
            )
        )

    async def map(
        self,
        *,
        filter: m.FilterBody | dict[str, Any] | None = None,
        limit: int | None = None,
    ) -> m.MemoryMap:
        """Show a sample of memories in two dimensions, by their vectors.

        Args:
            filter: The memories of the map.
            limit: The most memories, 1 to 5,000: a sample of those that pass the filter. Default:
                2,000.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/map",
                m.MemoryMap,
                body={
                    "filter": filter,
                    "limit": limit,
                },
            )
        )

    async def recall(
        self,
        *,
        as_of: str | None = None,
        boost_tags: Sequence[str] | None = None,
        correct: bool | None = None,
        count_accesses: bool | None = None,
        diversity: float | None = None,
        expand: bool | None = None,
        explain: bool | None = None,
        filter: m.FilterBody | dict[str, Any] | None = None,
        fold: bool | None = None,
        fold_documents: bool | None = None,
        follow: bool | None = None,
        limit: int | None = None,
        min_similarity: float | None = None,
        models: Sequence[str] | None = None,
        neighbours: int | None = None,
        order_by: str | None = None,
        query: str | None = None,
        refresh: bool | None = None,
        rerank: bool | None = None,
        robot: str | None = None,
        snippets: bool | None = None,
        strategy: Literal["vector", "fulltext", "hybrid", "auto"] | None = None,
        vector: Sequence[float] | None = None,
    ) -> m.Answer:
        """Recall memories.

        Args:
            as_of: Answers as the memory stood at this time: a date (midnight in the server's time
                zone), an RFC 3339 time, or words. Its hits enter no working memory, count as no
                access and refresh nothing. Default: now.
            boost_tags: Preferred tags: hits are then ordered by relevance.
            correct: Whether unknown words are spell-corrected. Default: true.
            count_accesses: Whether hits count as accessed. Default: true.
            diversity: Prefers hits that differ: 0 (score only) to 1 (novelty only).
            expand: Whether a language model rephrases the query.
            explain: Whether to return the parts of each score.
            filter: The searched memories.
            fold: Whether near-duplicates become one hit.
            fold_documents: Whether the passages of a document become one hit.
            follow: Whether a memory that supersedes a hit takes its place.
            limit: The most hits, 1 to 10,000. Default: 20.
            min_similarity: The least cosine similarity of hits by vectors, 0 to 1.
            models: The labels of the embedding models to search. Default: the active one.
            neighbours: The neighbours to return of each hit in a conversation or a document, on
                each side: 0 to 10, none with `as_of`. Default: 0.
            order_by: Weights of relevance: `similarity=0.7,recency=0.3`, or `relevance`.
            query: The question or the words. `"a phrase"` is preferred, `-word` is excluded,
                `word*` is a prefix. With `vector` and strategy `vector` it may be left out.
            refresh: Whether the hits' times to live start again. Needs a writer's key.
            rerank: Whether a re-ranker orders the first candidates.
            robot: The robot that asks: the hits enter its working memory, which needs a writer's
                key. Default: nobody.
            snippets: Whether to return the best excerpt of each hit.
            strategy: How it searches. Default: hybrid.
            vector: Its vector by the searched model, in place of an embedding by the model's
                provider.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/recall",
                m.Answer,
                body={
                    "as_of": as_of,
                    "boost_tags": boost_tags,
                    "correct": correct,
                    "count_accesses": count_accesses,
                    "diversity": diversity,
                    "expand": expand,
                    "explain": explain,
                    "filter": filter,
                    "fold": fold,
                    "fold_documents": fold_documents,
                    "follow": follow,
                    "limit": limit,
                    "min_similarity": min_similarity,
                    "models": models,
                    "neighbours": neighbours,
                    "order_by": order_by,
                    "query": query,
                    "refresh": refresh,
                    "rerank": rerank,
                    "robot": robot,
                    "snippets": snippets,
                    "strategy": strategy,
                    "vector": vector,
                },
            )
        )

    async def recall_simply(
        self,
        q: str,
        *,
        namespace: str | None = None,
        timeframe: str | None = None,
        tag: str | None = None,
        strategy: Literal["vector", "fulltext", "hybrid", "auto"] | None = None,
        limit: int | None = None,
        as_of: str | None = None,
    ) -> m.Answer:
        """Recall memories, by a URL.

        POST has all parameters, and keeps the query out of the logs of proxies.

        Args:
            q: The question or the words.
            namespace: The namespace. Default: the server's.
            timeframe: The time: `last week`, `2026-03-01..2026-04-01`, `auto`. Default: any.
            tag: A required tag, with the tags below it.
            strategy: How it searches. Default: hybrid.
            limit: The most hits, 1 to 10,000. Default: 20.
            as_of: Answers as the memory stood at this time. Default: now.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/recall",
                m.Answer,
                query={
                    "q": q,
                    "namespace": namespace,
                    "timeframe": timeframe,
                    "tag": tag,
                    "strategy": strategy,
                    "limit": limit,
                    "as_of": as_of,
                },
            )
        )

    async def timeline(
        self,
        *,
        as_of: str | None = None,
        correct: bool | None = None,
        filter: m.FilterBody | dict[str, Any] | None = None,
        limit: int | None = None,
        strategy: Literal["vector", "fulltext", "hybrid", "auto"] | None = None,
        topic: str | None = None,
    ) -> m.TimelineAnswer:
        """List memories in chronological order.

        Args:
            as_of: As the memory stood at this time: a date, an RFC 3339 time, or words. Default:
                now.
            correct: Whether unknown words of the topic are spell-corrected. Default: true.
            filter: The memories of the timeline.
            limit: The most memories, 1 to 10,000: the most relevant to the topic, or the latest
                without one. Default: 20.
            strategy: How the topic is searched. Default: hybrid.
            topic: The topic. Default: everything.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/timeline",
                m.TimelineAnswer,
                body={
                    "as_of": as_of,
                    "correct": correct,
                    "filter": filter,
                    "limit": limit,
                    "strategy": strategy,
                    "topic": topic,
                },
            )
        )


class AsyncRobots:
    """Robots."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def edit(
        self,
        name: str,
        *,
        max_tokens: int | None | Unset = UNSET,
        metadata: dict[str, Any] | None | Unset = UNSET,
        new_name: str | None | Unset = UNSET,
        namespace: str | None | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> m.RobotStatistics:
        """Change a robot.

        Args:
            max_tokens: The token budget of its working memory.
            metadata: Entries of its metadata to set; null removes one.
            new_name: Its new name.
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "PATCH",
                "/v1/robots/{name}",
                m.RobotStatistics,
                path={
                    "name": name,
                },
                body={
                    "max_tokens": max_tokens,
                    "metadata": metadata,
                    "name": new_name,
                    "namespace": namespace,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
                keeps_null=True,
            )
        )

    async def get(
        self,
        name: str,
        *,
        namespace: str | None = None,
    ) -> m.RobotStatistics:
        """Read a robot with its statistics.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/robots/{name}",
                m.RobotStatistics,
                path={
                    "name": name,
                },
                query={
                    "namespace": namespace,
                },
            )
        )

    async def list(
        self,
        *,
        namespace: str | None = None,
        all: bool | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> m.RobotPage:
        """List robots with their statistics.

        Args:
            namespace: The namespace. Default: the server's.
            all: Whether to list all namespaces.
            cursor: `next` of the previous page.
            limit: The most robots, 1 to 10,000. Default: 100.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/robots",
                m.RobotPage,
                query={
                    "namespace": namespace,
                    "all": all,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def merge(
        self,
        *,
        from_: Sequence[str],
        into: str,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.MergeReceipt:
        """Merge robots into one.

        Args:
            dry_run: Answers with the plan, and changes nothing.
            from_: The robots that go.
            into: The robot that stays.
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/robots/merge",
                m.MergeReceipt,
                body={
                    "dry_run": dry_run,
                    "from": from_,
                    "into": into,
                    "namespace": namespace,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def register(
        self,
        *,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.RobotInfo:
        """Register a robot before its first memory.

        Args:
            metadata: Its metadata.
            name: Its name. Default: a new one, such as `quiet-heron-7`.
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/robots",
                m.RobotInfo,
                body={
                    "metadata": metadata,
                    "name": name,
                    "namespace": namespace,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncTags:
    """Tags."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def add(
        self,
        tags: Sequence[m.TermBody | dict[str, Any]],
        *,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Add tags, or change their descriptions and synonyms.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            tags: The tags.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/add",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "tags": tags,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def add_synonym(
        self,
        *,
        name: str,
        tag: str,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Add a synonym of a tag.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            name: The other name.
            tag: The tag.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/synonyms/add",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "name": name,
                    "tag": tag,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def cooccurring(
        self,
        *,
        namespace: str | None = None,
        tag: str | None = None,
        min_memories: int | None = None,
        limit: int | None = None,
    ) -> List[m.CoOccurrence]:
        """List pairs of tags that are on the same memories.

        Args:
            namespace: The namespace. Default: the server's.
            tag: Only pairs with this tag.
            min_memories: The fewest memories with both. Default: 2.
            limit: The most pairs. Default: 20, at most 1,000.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/cooccurring",
                List[m.CoOccurrence],
                query={
                    "namespace": namespace,
                    "tag": tag,
                    "min_memories": min_memories,
                    "limit": limit,
                },
            )
        )

    async def distinct(
        self,
        *,
        namespace: str | None = None,
    ) -> List[m.DistinctTags]:
        """List pairs of tags declared distinct, by their names.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/distinct",
                List[m.DistinctTags],
                query={
                    "namespace": namespace,
                },
            )
        )

    async def export(
        self,
        *,
        namespace: str | None = None,
    ) -> m.OntologyDocument:
        """Export the ontology as a document.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/export",
                m.OntologyDocument,
                query={
                    "namespace": namespace,
                },
            )
        )

    async def get(
        self,
        tag: str,
        *,
        namespace: str | None = None,
    ) -> m.TagDetails:
        """Read a tag: its description, synonyms, children and newest memories.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/show/{tag}",
                m.TagDetails,
                path={
                    "tag": tag,
                },
                query={
                    "namespace": namespace,
                },
            )
        )

    async def import_(
        self,
        document: m.OntologyDocument | dict[str, Any],
        *,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        overwrite_descriptions: bool | None = None,
        source: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Imported:
        """Import an ontology document.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            document: The document, as the export makes it.
            overwrite_descriptions: Whether its descriptions replace existing ones.
            source: Its source, for the log. Default: `http`.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/import",
                m.Imported,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "document": document,
                    "overwrite_descriptions": overwrite_descriptions,
                    "source": source,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def list(
        self,
        *,
        namespace: str | None = None,
        below: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> m.TagPage:
        """List tags by their paths, with the number of their memories.

        Args:
            namespace: The namespace. Default: the server's.
            below: Only this tag and those below it.
            cursor: `next` of the previous page.
            limit: The most tags, 1 to 10,000. Default: 1,000.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags",
                m.TagPage,
                query={
                    "namespace": namespace,
                    "below": below,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def log(
        self,
        *,
        namespace: str | None = None,
        cursor: int | None = None,
        limit: int | None = None,
    ) -> m.Changes:
        """List changes of the ontology, the latest first.

        Args:
            namespace: The namespace. Default: the server's.
            cursor: `next` of the previous page.
            limit: The most changes, 1 to 1,000. Default: 20.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/log",
                m.Changes,
                query={
                    "namespace": namespace,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def mark_distinct(
        self,
        *,
        other: str,
        tag: str,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Tell two tags apart: no merge of them is suggested.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            other: The other one.
            tag: One of them.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/distinct/add",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "other": other,
                    "tag": tag,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def memories(
        self,
        tag: str,
        *,
        namespace: str | None = None,
        cursor: int | None = None,
        limit: int | None = None,
    ) -> m.TaggedNodes:
        """List the memories with a tag or one below it.

        Args:
            namespace: The namespace. Default: the server's.
            cursor: `next` of the previous page.
            limit: The most memories. Default: 100, at most 1,000.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/memories/{tag}",
                m.TaggedNodes,
                path={
                    "tag": tag,
                },
                query={
                    "namespace": namespace,
                    "cursor": cursor,
                    "limit": limit,
                },
            )
        )

    async def merge(
        self,
        *,
        from_: Sequence[str],
        into: str,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Merge tags into one.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            from_: The tags that go. Their names become synonyms.
            into: The tag that stays.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/merge",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "from": from_,
                    "into": into,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def orphans(
        self,
        *,
        namespace: str | None = None,
        max_memories: int | None = None,
    ) -> List[m.Orphan]:
        """List tags that no or few memories have.

        Args:
            namespace: The namespace. Default: the server's.
            max_memories: The most memories of such a tag. Default: 0.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/orphans",
                List[m.Orphan],
                query={
                    "namespace": namespace,
                    "max_memories": max_memories,
                },
            )
        )

    async def remove(
        self,
        tag: str,
        *,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        assigned: bool | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Remove a tag.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            assigned: Whether the memories that have it lose it. Otherwise such a tag is kept.
            tag: The tag.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/remove",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "assigned": assigned,
                    "tag": tag,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def remove_synonym(
        self,
        name: str,
        *,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Remove a synonym.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            name: The other name.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/synonyms/remove",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "name": name,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def rename(
        self,
        *,
        tag: str,
        to: str,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Rename a tag, with all tags below it.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            tag: The tag.
            to: Its new name.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/rename",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "tag": tag,
                    "to": to,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def revert(
        self,
        id: int,
        *,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Revert a change of the log.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            id: Its number in the log.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/revert",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "id": id,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def similar(
        self,
        q: str,
        *,
        namespace: str | None = None,
        limit: int | None = None,
    ) -> List[m.SimilarTag]:
        """List tags with a similar name, the nearest first.

        Args:
            q: The text.
            namespace: The namespace. Default: the server's.
            limit: The most tags. Default: 10, at most 1,000.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/similar",
                List[m.SimilarTag],
                query={
                    "q": q,
                    "namespace": namespace,
                    "limit": limit,
                },
            )
        )

    async def split(
        self,
        *,
        into: Sequence[m.TermBody | dict[str, Any]],
        tag: str,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        leftover: Literal["keep", "first"] | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Split a tag into several.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            into: The tags in its place. A worker chooses for each memory.
            leftover: The tag of memories that fit none of them. Default: they keep the tag.
            tag: The tag.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/split",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "into": into,
                    "leftover": leftover,
                    "tag": tag,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def suggestions(
        self,
        *,
        namespace: str | None = None,
        limit: int | None = None,
    ) -> List[m.Suggestion]:
        """List merges of tags that mean the same, by their names and their memories.

        Args:
            namespace: The namespace. Default: the server's.
            limit: The most entries. Default: 20, at most 1,000.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/suggestions",
                List[m.Suggestion],
                query={
                    "namespace": namespace,
                    "limit": limit,
                },
            )
        )

    async def synonyms(
        self,
        *,
        namespace: str | None = None,
    ) -> List[m.Synonym]:
        """List synonyms by tag.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/tags/synonyms",
                List[m.Synonym],
                query={
                    "namespace": namespace,
                },
            )
        )

    async def unmark_distinct(
        self,
        *,
        other: str,
        tag: str,
        by: str | None = None,
        dry_run: bool | None = None,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Changed:
        """Tell two tags apart no longer.

        Args:
            by: The author in the log. Default: the server's robot.
            dry_run: Answers with the plan, and changes nothing.
            namespace: The namespace. Default: the server's.
            other: The other one.
            tag: One of them.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/tags/distinct/remove",
                m.Changed,
                body={
                    "by": by,
                    "dry_run": dry_run,
                    "namespace": namespace,
                    "other": other,
                    "tag": tag,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncWorkingMemory:
    """Working memory."""

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def add(
        self,
        name: str,
        nodes: Sequence[int],
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.Intake:
        """Add memories to a robot's working memory.

        Args:
            namespace: The namespace. Default: the server's.
            nodes: The ids of the memories. Of equally important ones, the last is evicted last.
        """
        return await self._sender.send(
            Call(
                "POST",
                "/v1/robots/{name}/working-memory",
                m.Intake,
                path={
                    "name": name,
                },
                body={
                    "namespace": namespace,
                    "nodes": nodes,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def clear(
        self,
        name: str,
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.RemovedNodes:
        """Empty a robot's working memory.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "DELETE",
                "/v1/robots/{name}/working-memory",
                m.RemovedNodes,
                path={
                    "name": name,
                },
                query={
                    "namespace": namespace,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )

    async def get(
        self,
        name: str,
        *,
        namespace: str | None = None,
    ) -> m.Working:
        """Read a robot's working memory.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "GET",
                "/v1/robots/{name}/working-memory",
                m.Working,
                path={
                    "name": name,
                },
                query={
                    "namespace": namespace,
                },
            )
        )

    async def remove(
        self,
        name: str,
        id: int,
        *,
        namespace: str | None = None,
        idempotency_key: str | None = None,
    ) -> m.RemovedNodes:
        """Remove a memory from a robot's working memory.

        Args:
            namespace: The namespace. Default: the server's.
        """
        return await self._sender.send(
            Call(
                "DELETE",
                "/v1/robots/{name}/working-memory/{id}",
                m.RemovedNodes,
                path={
                    "name": name,
                    "id": id,
                },
                query={
                    "namespace": namespace,
                },
                takes_key=True,
                idempotency_key=idempotency_key,
            )
        )


class AsyncSubjects:
    """The operations by their subjects."""

    def __init__(self, sender: AsyncSender) -> None:
        self.backfills = AsyncBackfills(sender)
        self.conversations = AsyncConversations(sender)
        self.documents = AsyncDocuments(sender)
        self.erasures = AsyncErasures(sender)
        self.files = AsyncFiles(sender)
        self.groups = AsyncGroups(sender)
        self.jobs = AsyncJobs(sender)
        self.keys = AsyncKeys(sender)
        self.learning = AsyncLearning(sender)
        self.members = AsyncMembers(sender)
        self.memories = AsyncMemories(sender)
        self.models = AsyncModels(sender)
        self.namespaces = AsyncNamespaces(sender)
        self.recall = AsyncRecall(sender)
        self.robots = AsyncRobots(sender)
        self.tags = AsyncTags(sender)
        self.working_memory = AsyncWorkingMemory(sender)
