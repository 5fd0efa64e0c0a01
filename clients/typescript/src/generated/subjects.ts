// The operations of the server by their subjects. Made by `clients/generate`; do not edit.

import type { Call, EditOptions, Options, Sender, WriteOptions } from "../calls.js";
import { path } from "../calls.js";
import type * as models from "./models.js";

/** Backfills. */
export class Backfills {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** End a backfill where it is. The jobs that it has enqueued stay. */
  async cancel(id: number, options: WriteOptions = {}): Promise<models.Shown> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/backfills/${id}/cancel`,
        takesKey: true,
      },
      options,
    );
  }

  /** Read a backfill with its progress. */
  async get(id: number, options: Options = {}): Promise<models.Shown> {
    return this.#sender.send({ method: "GET", path: path`/v1/backfills/${id}` }, options);
  }

  /** List backfills, those of the command `htm backfill` too. */
  async list(
    fields: {
      /** `next` of the previous page. */
      cursor?: number | null | undefined;
      /** The most runs, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Backfills> {
    return this.#sender.send({ method: "GET", path: "/v1/backfills", query: fields }, options);
  }

  /**
   * Start a backfill, or go on with the unfinished one of the same request.
   *
   * It is behind every live job, and goes on after a restart of the server. `Location` has its
   * path. A dry run is answered with the number of jobs.
   */
  async start(
    fields: models.NewBackfill,
    options: WriteOptions = {},
  ): Promise<models.WouldEnqueue | models.BackfillRun> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/backfills",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Conversations. */
export class Conversations {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Remember a conversation.
   *
   * Each message is a memory with the conversation, its position and its speaker. They are written
   * in one transaction, all or none: if one cannot be written, the answer is its problem. Without
   * `first_seq` they continue the conversation, and their receipts have the positions; concurrent
   * calls run one after the other.
   */
  async create(
    fields: models.Conversation & {
      /**
       * Answer only when this is done, or when the time is over. The write is committed in any
       * case.
       */
      wait?: "embed" | "tag" | "all" | null | undefined;
      /** The time to wait in milliseconds, at most 30,000. Default: 10,000. */
      wait_ms?: number | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.ConversationWritten> {
    const { wait, wait_ms, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/conversations",
        query: { wait, wait_ms },
        body,
        takesKey: true,
      },
      options,
    );
  }
}

/** Documents. */
export class Documents {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** List the documents of a namespace. */
  async list(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** Only documents at or below this path. */
      below?: string | null | undefined;
      /** `next` of the previous page. */
      cursor?: string | null | undefined;
      /** The most documents, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.DocumentPage> {
    return this.#sender.send({ method: "GET", path: "/v1/documents", query: fields }, options);
  }

  /**
   * Load a document.
   *
   * Its passages take the place of those that it had. A passage with the same text keeps its
   * memory. A document without a change is not written.
   */
  async load(
    fields: models.DocumentBody,
    options: WriteOptions = {},
  ): Promise<models.DocumentAnswer> {
    return this.#sender.send(
      {
        method: "PUT",
        path: "/v1/documents",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read a document: its passages in their order. */
  async passages(
    fields: {
      /** The path of the document. */
      path: string;
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** `next` of the previous page. */
      cursor?: number | null | undefined;
      /** The most passages, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    },
    options: Options = {},
  ): Promise<models.PassagePage> {
    return this.#sender.send(
      {
        method: "GET",
        path: "/v1/documents/passages",
        query: fields,
      },
      options,
    );
  }

  /**
   * Unload a document, or all documents below a directory.
   *
   * Their passages are forgotten. Each can be restored until it is purged.
   */
  async unload(
    fields: {
      /** Its path, or a directory for all documents below it. */
      path: string;
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The robot that asks: it may unload the documents that it loaded. Default: the server's. */
      robot?: string | null | undefined;
      /** Whether documents of any robot may be unloaded. */
      any_robot?: boolean | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.UnloadedDocuments> {
    return this.#sender.send(
      {
        method: "DELETE",
        path: "/v1/documents",
        query: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Erasures. */
export class Erasures {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Erase memories with every trace. It cannot be undone.
   *
   * The memories are those with these ids, those that contain a text, or those of a robot;
   * forgotten ones too. An erasure whose request takes too long goes on; `/v1/erasures` lists it.
   */
  async eraseMany(
    fields: models.EraseMemories = {},
    options: WriteOptions = {},
  ): Promise<models.Erased> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/memories/erase",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Erase a namespace: its memories, robots, groups, ontology, policies and statistics. It cannot
   * be undone.
   *
   * In the path, `/` of the namespace is written `%2F`.
   */
  async eraseNamespace(
    namespace: string,
    fields: models.EraseNamespace = {},
    options: WriteOptions = {},
  ): Promise<models.Erased> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/namespaces/${namespace}/erase`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read the receipt of an erasure. */
  async get(id: number, options: Options = {}): Promise<models.Erasure> {
    return this.#sender.send({ method: "GET", path: path`/v1/erasures/${id}` }, options);
  }

  /** List the receipts of erasures. */
  async list(
    fields: {
      /** `next` of the previous page. */
      cursor?: number | null | undefined;
      /** The most receipts, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Erasures> {
    return this.#sender.send({ method: "GET", path: "/v1/erasures", query: fields }, options);
  }

  /**
   * Go on with an interrupted erasure. One that has ended is done again for what came back since.
   */
  async resume(id: number, options: WriteOptions = {}): Promise<models.Erasure> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/erasures/${id}/resume`,
        takesKey: true,
      },
      options,
    );
  }

  /** Look for traces of an erasure in every table. */
  async verify(
    id: number,
    fields: models.Verifying = {},
    options: WriteOptions = {},
  ): Promise<models.Verification> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/erasures/${id}/verify`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Files. */
export class Files {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Create a file. */
  async create(
    fields: models.FileCreation & {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The robot that writes: it may change the files that it created. Default: the server's. */
      robot?: string | null | undefined;
      /** Whether files of any robot may be changed. */
      any_robot?: boolean | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.FileReply> {
    const { namespace, robot, any_robot, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/files/create",
        query: { namespace, robot, any_robot },
        body,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Delete a file, or a directory with all files below it.
   *
   * Their memories are forgotten. Each can be restored until it is purged.
   */
  async delete(
    fields: models.FileDeletion & {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The robot that writes: it may change the files that it created. Default: the server's. */
      robot?: string | null | undefined;
      /** Whether files of any robot may be changed. */
      any_robot?: boolean | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.FileReply> {
    const { namespace, robot, any_robot, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/files/delete",
        query: { namespace, robot, any_robot },
        body,
        takesKey: true,
      },
      options,
    );
  }

  /** Insert lines into a file. */
  async insert(
    fields: models.FileInsertion & {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The robot that writes: it may change the files that it created. Default: the server's. */
      robot?: string | null | undefined;
      /** Whether files of any robot may be changed. */
      any_robot?: boolean | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.FileReply> {
    const { namespace, robot, any_robot, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/files/insert",
        query: { namespace, robot, any_robot },
        body,
        takesKey: true,
      },
      options,
    );
  }

  /** Rename a file, or a directory with all files below it. */
  async rename(
    fields: models.FileRenaming & {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The robot that writes: it may change the files that it created. Default: the server's. */
      robot?: string | null | undefined;
      /** Whether files of any robot may be changed. */
      any_robot?: boolean | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.FileReply> {
    const { namespace, robot, any_robot, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/files/rename",
        query: { namespace, robot, any_robot },
        body,
        takesKey: true,
      },
      options,
    );
  }

  /** Replace a text of a file. */
  async strReplace(
    fields: models.FileReplacement & {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The robot that writes: it may change the files that it created. Default: the server's. */
      robot?: string | null | undefined;
      /** Whether files of any robot may be changed. */
      any_robot?: boolean | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.FileReply> {
    const { namespace, robot, any_robot, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/files/str_replace",
        query: { namespace, robot, any_robot },
        body,
        takesKey: true,
      },
      options,
    );
  }

  /** View a file with its line numbers, or list a directory. */
  async view(
    fields: models.FileView & {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The robot that writes: it may change the files that it created. Default: the server's. */
      robot?: string | null | undefined;
      /** Whether files of any robot may be changed. */
      any_robot?: boolean | null | undefined;
    },
    options: Options = {},
  ): Promise<models.FileReply> {
    const { namespace, robot, any_robot, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/files/view",
        query: { namespace, robot, any_robot },
        body,
      },
      options,
    );
  }
}

/** Groups. */
export class Groups {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Make a member passive. */
  async demote(
    name: string,
    fields: models.OfMember,
    options: WriteOptions = {},
  ): Promise<models.GroupInfo> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/demote`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read a group. */
  async get(
    name: string,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.GroupInfo> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/groups/${name}`,
        query: fields,
      },
      options,
    );
  }

  /** List groups with their members. */
  async list(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** Whether to list all namespaces. */
      all?: boolean | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.GroupInfo[]> {
    return this.#sender.send({ method: "GET", path: "/v1/groups", query: fields }, options);
  }

  /** Make a member active. */
  async promote(
    name: string,
    fields: models.OfMember,
    options: WriteOptions = {},
  ): Promise<models.GroupInfo> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/promote`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Remove a member. */
  async remove(
    name: string,
    fields: models.OfMember,
    options: WriteOptions = {},
  ): Promise<models.GroupInfo> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/remove`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Shut a group down: its members leave. */
  async shutdown(
    name: string,
    fields: models.Shutdown = {},
    options: WriteOptions = {},
  ): Promise<models.ShutDown> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/shutdown`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Transfer memories of a group's working memory to another group or to a robot. */
  async transfer(
    name: string,
    fields: models.Transfer = {},
    options: WriteOptions = {},
  ): Promise<models.TransferReceipt> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/transfer`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Jobs. */
export class Jobs {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Find memories without a result, a job or a dead letter. Reads every memory. */
  async audit(options: Options = {}): Promise<models.Audit> {
    return this.#sender.send({ method: "GET", path: "/v1/jobs/audit" }, options);
  }

  /** Turn pending or running jobs into dead letters. */
  async cancel(
    fields: models.SelectionBody = {},
    options: WriteOptions = {},
  ): Promise<models.ChangedJobs> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/jobs/cancel",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read a job. */
  async get(id: string, options: Options = {}): Promise<models.Job> {
    return this.#sender.send({ method: "GET", path: path`/v1/jobs/${id}` }, options);
  }

  /** List the jobs that ended lately, by queue and minute. Minutes without any are left out. */
  async history(
    fields: {
      /** The last minutes, 1 to 1,440. Default: 60. */
      minutes?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.QueueMinute[]> {
    return this.#sender.send(
      {
        method: "GET",
        path: "/v1/queues/history",
        query: fields,
      },
      options,
    );
  }

  /** List jobs: dead letters, then parked, then failed ones; the newest first. */
  async list(
    fields: {
      /** The queue. */
      queue?: string | null | undefined;
      /** The state. Default: any but done. */
      state?: models.JobState | null | undefined;
      /** The namespace of their memories. */
      namespace?: string | null | undefined;
      /** Their memory. */
      node?: number | null | undefined;
      /** A part of their last error, in upper or lower case. */
      error?: string | null | undefined;
      /** `next` of the previous page. */
      cursor?: string | null | undefined;
      /** The most jobs, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.JobPage> {
    return this.#sender.send({ method: "GET", path: "/v1/jobs", query: fields }, options);
  }

  /** Pause a queue: no job is claimed until it is resumed; running jobs finish. */
  async pauseQueue(
    queue: string,
    fields: models.Pause,
    options: WriteOptions = {},
  ): Promise<models.Paused> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/queues/${queue}/pause`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List queues with the number of their jobs by state. */
  async queues(options: Options = {}): Promise<models.QueueStats[]> {
    return this.#sender.send({ method: "GET", path: "/v1/queues" }, options);
  }

  /** Enqueue the jobs that the audit finds missing. */
  async repair(options: WriteOptions = {}): Promise<models.ChangedJobs> {
    return this.#sender.send({ method: "POST", path: "/v1/jobs/repair", takesKey: true }, options);
  }

  /** Resume a queue. */
  async resumeQueue(queue: string, options: WriteOptions = {}): Promise<models.Paused> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/queues/${queue}/resume`,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Retry waiting, parked or dead jobs as if they were new.
   *
   * Without a state, the conditions select dead letters.
   */
  async retry(
    fields: models.SelectionBody = {},
    options: WriteOptions = {},
  ): Promise<models.Retried> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/jobs/retry",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List workers, those alive first. */
  async workers(options: Options = {}): Promise<models.Worker[]> {
    return this.#sender.send({ method: "GET", path: "/v1/workers" }, options);
  }
}

/** Keys. */
export class Keys {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * List who did what.
   *
   * It has changes of keys, limits, policies, robots, models and the ontology, and deletions.
   */
  async audit(
    fields: {
      /** `next` of the previous page. */
      cursor?: string | null | undefined;
      /** The most entries, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.AuditLog> {
    return this.#sender.send({ method: "GET", path: "/v1/audit", query: fields }, options);
  }

  /**
   * Create a key.
   *
   * The answer has the whole key. It cannot be read again.
   */
  async create(fields: models.NewKey, options: Options = {}): Promise<models.CreatedApiKey> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/keys",
        body: fields,
        mayBeRepeated: false,
      },
      options,
    );
  }

  /** List the keys. */
  async list(options: Options = {}): Promise<models.Keys> {
    return this.#sender.send({ method: "GET", path: "/v1/keys" }, options);
  }

  /**
   * Revoke a key.
   *
   * This server refuses it at once, others within a second.
   *
   * @param id - The visible part of the key, or the whole key; prefer the part, since proxies log
   *   URLs.
   */
  async revoke(id: string, options: WriteOptions = {}): Promise<models.ApiKey> {
    return this.#sender.send(
      {
        method: "DELETE",
        path: path`/v1/keys/${id}`,
        takesKey: true,
      },
      options,
    );
  }
}

/** Learning. */
export class Learning {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Order the hits of a namespace by a version from now on. */
  async activate(
    fields: models.ActivateBody,
    options: WriteOptions = {},
  ): Promise<models.Rankings> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/rankings/activate",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Compare a ranking that was tried on live recalls with the one that answered. */
  async compare(
    version: number,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.RankingComparison> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/rankings/${version}/comparison`,
        query: fields,
      },
      options,
    );
  }

  /**
   * Judge a recall.
   *
   * Recalls have a `recall_id` where learning is on; `last` is the last recall with the same key. A
   * later verdict on a memory replaces the earlier one of the same key.
   */
  async feedback(
    id: string,
    fields: models.FeedbackBody = {},
    options: WriteOptions = {},
  ): Promise<models.FeedbackReceipt> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/recalls/${id}/feedback`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read what a namespace keeps of its recalls, and who judges them. */
  async learning(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Learning> {
    return this.#sender.send({ method: "GET", path: "/v1/learning", query: fields }, options);
  }

  /** Show a learnt ranking: what it weighs, from what it was learnt, and how sure it is. */
  async ranking(
    version: number,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.RankingInfo> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/rankings/${version}`,
        query: fields,
      },
      options,
    );
  }

  /** List the learnt rankings of a namespace, and which one is used. */
  async rankings(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Rankings> {
    return this.#sender.send({ method: "GET", path: "/v1/rankings", query: fields }, options);
  }

  /** Order the hits of a namespace by the version before the present one again. */
  async revert(
    fields: models.RevertBody = {},
    options: WriteOptions = {},
  ): Promise<models.Rankings> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/rankings/revert",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Set what a namespace keeps of its recalls. */
  async setLearning(
    fields: models.LearningBody,
    options: WriteOptions = {},
  ): Promise<models.Learning> {
    return this.#sender.send(
      {
        method: "PUT",
        path: "/v1/learning",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Try a version on live recalls, in the shadow or interleaved. */
  async tryRanking(
    fields: models.TryBody = {},
    options: WriteOptions = {},
  ): Promise<models.Rankings> {
    return this.#sender.send(
      {
        method: "PUT",
        path: "/v1/rankings/trial",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Members. */
export class Members {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Add memories to a group's working memory, as an active member. */
  async add(
    name: string,
    robot: string,
    fields: models.AddToGroup,
    options: WriteOptions = {},
  ): Promise<models.Evicted> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/members/${robot}/add`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Make the text for a prompt from a group's working memory. */
  async context(
    name: string,
    robot: string,
    fields: models.GroupContext,
    options: Options = {},
  ): Promise<models.Context> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/members/${robot}/context`,
        body: fields,
      },
      options,
    );
  }

  /** Renew the lease of a member, and read what has changed. */
  async heartbeat(
    name: string,
    robot: string,
    fields: models.Heartbeat,
    options: Options = {},
  ): Promise<models.GroupNews> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/members/${robot}/heartbeat`,
        body: fields,
      },
      options,
    );
  }

  /**
   * Join a group as a robot; the group is made if needed.
   *
   * An earlier membership of the robot is replaced, also that of a process.
   */
  async join(name: string, fields: models.Join, options: Options = {}): Promise<models.Joined> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/members`,
        body: fields,
      },
      options,
    );
  }

  /** Leave a group. A passive member takes over from the only active one. */
  async leave(
    name: string,
    robot: string,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The membership. */
      membership: models.MembershipId;
    },
    options: WriteOptions = {},
  ): Promise<models.Left> {
    return this.#sender.send(
      {
        method: "DELETE",
        path: path`/v1/groups/${name}/members/${robot}`,
        query: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Remove a memory from a group's working memory, as an active member. */
  async remove(
    name: string,
    robot: string,
    fields: models.RemoveFromGroup,
    options: WriteOptions = {},
  ): Promise<models.RemovedFromGroup> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/members/${robot}/remove`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Transfer memories of the group's working memory to another group or to a robot, as an active
   * member.
   */
  async transfer(
    name: string,
    robot: string,
    fields: models.TransferByMember,
    options: WriteOptions = {},
  ): Promise<models.TransferReceipt> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/groups/${name}/members/${robot}/transfer`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Memories. */
export class Memories {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Remember a memory.
   *
   * It is committed when this answers, and full text finds it at once. 201: it is new. 200: it
   * existed, by its key or its content.
   */
  async create(
    fields: models.NewMemory & {
      /**
       * Answer only when this is done, or when the time is over. The write is committed in any
       * case.
       */
      wait?: "embed" | "tag" | "all" | null | undefined;
      /** The time to wait in milliseconds, at most 30,000. Default: 10,000. */
      wait_ms?: number | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.Written> {
    const { wait, wait_ms, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/memories",
        query: { wait, wait_ms },
        body,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Remember many memories in one transaction.
   *
   * The answer is 200 with a receipt or a problem for each: a memory that is refused does not hold
   * back the others. If they replace conversations, all are written or none, and the answer is the
   * problem.
   */
  async createMany(
    fields: models.NewMemories & {
      /**
       * Answer only when this is done, or when the time is over. The write is committed in any
       * case.
       */
      wait?: "embed" | "tag" | "all" | null | undefined;
      /** The time to wait in milliseconds, at most 30,000. Default: 10,000. */
      wait_ms?: number | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.ManyWritten> {
    const { wait, wait_ms, ...body } = fields;
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/memories/batch",
        query: { wait, wait_ms },
        body,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Edit a memory.
   *
   * With `If-Match`, it fails if the text has another revision by now (412).
   */
  async edit(
    id: number,
    fields: models.MemoryEdit & {
      /**
       * Answer only when this is done, or when the time is over. The write is committed in any
       * case.
       */
      wait?: "embed" | "tag" | "all" | null | undefined;
      /** The time to wait in milliseconds, at most 30,000. Default: 10,000. */
      wait_ms?: number | null | undefined;
    } = {},
    options: EditOptions = {},
  ): Promise<models.EditedNow> {
    const { wait, wait_ms, ...body } = fields;
    return this.#sender.send(
      {
        method: "PATCH",
        path: path`/v1/memories/${id}`,
        query: { wait, wait_ms },
        body,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Forget a memory, or erase it.
   *
   * Nothing finds a forgotten memory; it can be restored until it is purged. With `If-Match`, it
   * fails if the text has another revision by now (412).
   */
  async forget(
    id: number,
    fields: {
      /** The namespace of the robot that forgets. Default: the server's. */
      namespace?: string | null | undefined;
      /** The robot that forgets: it may forget what it remembered. Default: the server's. */
      robot?: string | null | undefined;
      /** Whether a memory of any robot may be forgotten. */
      any_robot?: boolean | null | undefined;
      /** The act is refused without it. */
      confirm?: boolean | null | undefined;
      /**
       * Whether the memory is erased with every trace, at once and for all robots. It cannot be
       * undone. Needs the role admin.
       */
      erase?: boolean | null | undefined;
    } = {},
    options: EditOptions = {},
  ): Promise<models.Deleted> {
    return this.#sender.send(
      {
        method: "DELETE",
        path: path`/v1/memories/${id}`,
        query: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Forget the memories that match a text. */
  async forgetMatching(
    fields: models.ForgetMatching,
    options: WriteOptions = {},
  ): Promise<models.MatchingForgotten> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/memories/forget",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List forgotten memories, the latest first. */
  async forgotten(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** `next` of the previous page. */
      cursor?: string | null | undefined;
      /** The most memories, 1 to 10,000. Default: 20. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.ForgottenPage> {
    return this.#sender.send(
      {
        method: "GET",
        path: "/v1/memories/forgotten",
        query: fields,
      },
      options,
    );
  }

  /**
   * Read a memory.
   *
   * The ETag is the revision of its text, for `If-Match`. Other changes do not make a new one, so
   * that `If-None-Match` has no effect.
   *
   * With `as_of`, it is as it stood at that time, with the text that it had.
   */
  async get(
    id: number,
    fields: {
      /**
       * The time as of which the memory is read: a date, an RFC 3339 time, or words. Default: now.
       */
      as_of?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Node> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/memories/${id}`,
        query: fields,
      },
      options,
    );
  }

  /** Read a memory by its key. */
  async getByKey(
    key: string,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Node> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/memories/by-key/${key}`,
        query: fields,
      },
      options,
    );
  }

  /** List the texts that a memory has had, the oldest first. */
  async history(id: number, options: Options = {}): Promise<models.Revision[]> {
    return this.#sender.send({ method: "GET", path: path`/v1/memories/${id}/history` }, options);
  }

  /**
   * List who keeps a memory: robots that remembered it, and groups that have it in their working
   * memory.
   */
  async keepers(id: number, options: Options = {}): Promise<models.Keepers> {
    return this.#sender.send({ method: "GET", path: path`/v1/memories/${id}/keepers` }, options);
  }

  /** List the memories of a namespace in the order of their time. */
  async list(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** `next` of the previous page. */
      cursor?: string | null | undefined;
      /** The most memories, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Page> {
    return this.#sender.send({ method: "GET", path: "/v1/memories", query: fields }, options);
  }

  /** List what was said before and after a memory. */
  async neighbours(
    id: number,
    fields: {
      /** The most memories before it, 0 to 1,000. Default: 3. */
      before?: number | null | undefined;
      /** The most memories after it, 0 to 1,000. Default: 3. */
      after?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Neighbours> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/memories/${id}/neighbours`,
        query: fields,
      },
      options,
    );
  }

  /** Start a memory's time to live again. */
  async refresh(id: number, options: WriteOptions = {}): Promise<models.Refreshed> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/memories/${id}/refresh`,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Say that a memory supersedes or contradicts another one.
   *
   * Both are in one namespace. A relation that is set already stays as it is: 200 instead of 201.
   */
  async relate(
    id: number,
    fields: models.RelationBody,
    options: WriteOptions = {},
  ): Promise<models.Relating> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/memories/${id}/relations`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * List what a memory is related to.
   *
   * Relations that were set come first, then near-duplicates by the vectors, then memories with the
   * same rare tags.
   */
  async related(
    id: number,
    fields: {
      /** Only those that are related in this way. Default: in any. */
      kind?: models.RelatedBy | null | undefined;
      /** The most memories of each kind, 1 to 10,000. Default: 10. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Related> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/memories/${id}/relations`,
        query: fields,
      },
      options,
    );
  }

  /**
   * Restore a forgotten memory.
   *
   * With `If-Match`, it fails if the text has another revision by now (412).
   */
  async restore(
    id: number,
    fields: models.Restoring = {},
    options: EditOptions = {},
  ): Promise<models.Restored> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/memories/${id}/restore`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Set the vector of a memory, by a model whose vectors callers bring.
   *
   * If the text has another revision by now, it is refused (409).
   */
  async setVector(
    id: number,
    fields: models.BroughtVector,
    options: WriteOptions = {},
  ): Promise<models.VectorSet> {
    return this.#sender.send(
      {
        method: "PUT",
        path: path`/v1/memories/${id}/vector`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read the state of a memory's embedding and tagging. */
  async status(id: number, options: Options = {}): Promise<models.NodeStatus> {
    return this.#sender.send({ method: "GET", path: path`/v1/memories/${id}/status` }, options);
  }

  /** List the tags of a memory, each with who set it and how sure that was. */
  async tags(id: number, options: Options = {}): Promise<models.TagAssignment[]> {
    return this.#sender.send({ method: "GET", path: path`/v1/memories/${id}/tags` }, options);
  }

  /** Remove a relation of a memory to another one. */
  async unrelate(
    id: number,
    fields: {
      /** The kind. */
      kind: models.RelationKind;
      /** The memory that is superseded or contradicted. */
      to: models.NodeId;
      /** The namespace of the robot that removes it. Default: the server's. */
      namespace?: string | null | undefined;
      /**
       * The robot that removes it: it must have first remembered the memory of the path. Default:
       * the server's.
       */
      robot?: string | null | undefined;
      /** Whether the memory of the path may be of any robot. Default: false. */
      any_robot?: boolean | null | undefined;
    },
    options: WriteOptions = {},
  ): Promise<models.Relation> {
    return this.#sender.send(
      {
        method: "DELETE",
        path: path`/v1/memories/${id}/relations`,
        query: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Models. */
export class Models {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Make a model the one that recall uses; the old one goes on standby. */
  async activate(fields: models.Activate, options: WriteOptions = {}): Promise<models.Activation> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/models/activate",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Add an embedding model whose vectors callers bring.
   *
   * The first model of a database is active at once. Another one is activated by `POST
   * /v1/models/activate`.
   */
  async add(
    fields: models.CallersModel,
    options: WriteOptions = {},
  ): Promise<models.RegisteredModel> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/models",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List the namespaces that have a budget of tokens. */
  async budgets(options: Options = {}): Promise<models.Budget[]> {
    return this.#sender.send({ method: "GET", path: "/v1/budgets" }, options);
  }

  /** List the embedding models with their progress. Reads every memory. */
  async list(options: Options = {}): Promise<models.Model[]> {
    return this.#sender.send({ method: "GET", path: "/v1/models" }, options);
  }

  /** List the models of providers that have limits or have failed. */
  async providers(options: Options = {}): Promise<models.Provider[]> {
    return this.#sender.send({ method: "GET", path: "/v1/providers" }, options);
  }

  /** Forget the failures of a provider's model: its breaker closes, and its jobs are due. */
  async resetProvider(
    fields: models.OfProvider,
    options: WriteOptions = {},
  ): Promise<models.Reset> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/providers/reset",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Retire a model: writes to it end, and its open jobs and dead letters are deleted. */
  async retire(fields: models.Retire, options: WriteOptions = {}): Promise<models.RetiredModel> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/models/retire",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Set the budget of a namespace. */
  async setBudget(fields: models.NewBudget, options: WriteOptions = {}): Promise<models.Reset> {
    return this.#sender.send(
      {
        method: "PUT",
        path: "/v1/budgets",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Limit the calls to a provider's model. */
  async setLimits(fields: models.Limits, options: WriteOptions = {}): Promise<models.Provider[]> {
    return this.#sender.send(
      {
        method: "PATCH",
        path: "/v1/providers",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List the tokens of the memories that models have processed lately, by day, stage and model. */
  async usage(
    fields: {
      /** The last days (UTC), today included, 1 to 366. Default: 7. */
      days?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.TokenUsage[]> {
    return this.#sender.send({ method: "GET", path: "/v1/usage", query: fields }, options);
  }
}

/** Namespaces. */
export class Namespaces {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** List namespaces. */
  async list(
    fields: {
      /** The first labels; the label `*` stands for any. */
      prefix?: string | null | undefined;
      /** The last labels; the label `*` stands for any. */
      suffix?: string | null | undefined;
      /** The most labels: deeper namespaces are cut to these, and each is listed once. */
      depth?: number | null | undefined;
      /** `next` of the previous page. */
      cursor?: string | null | undefined;
      /** The most namespaces, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Namespaces> {
    return this.#sender.send({ method: "GET", path: "/v1/namespaces", query: fields }, options);
  }

  /** Delete forgotten memories. It cannot be undone. */
  async purge(fields: models.PurgeBody, options: WriteOptions = {}): Promise<models.Purged> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/purge",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read the quota of a namespace, and what it uses of it. */
  async quota(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.QuotaAndUse> {
    return this.#sender.send({ method: "GET", path: "/v1/quotas", query: fields }, options);
  }

  /** Read the retention policy of a namespace. */
  async retention(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Retention> {
    return this.#sender.send({ method: "GET", path: "/v1/retention", query: fields }, options);
  }

  /**
   * Change the quota of a namespace, with a key of all namespaces.
   *
   * Only the given limits change.
   */
  async setQuota(
    fields: models.NewQuota = {},
    options: WriteOptions = {},
  ): Promise<models.QuotaAndUse> {
    return this.#sender.send(
      {
        method: "PATCH",
        path: "/v1/quotas",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /**
   * Change the retention policy of a namespace.
   *
   * Only the given times change. Answers what the next sweep will remove by it, and not by the
   * policy before.
   */
  async setRetention(
    fields: models.NewRetention = {},
    options: WriteOptions = {},
  ): Promise<models.RetentionPlan> {
    return this.#sender.send(
      {
        method: "PATCH",
        path: "/v1/retention",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Count memories, robots, tags, jobs and storage. */
  async stats(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** Whether to count all namespaces. */
      all?: boolean | null | undefined;
      /** The most rows of each list. Default: 10. */
      top?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.MemoryStats> {
    return this.#sender.send({ method: "GET", path: "/v1/stats", query: fields }, options);
  }

  /** Forget what has expired, and carry out the retention policies now. */
  async sweep(options: WriteOptions = {}): Promise<models.Swept> {
    return this.#sender.send({ method: "POST", path: "/v1/sweep", takesKey: true }, options);
  }
}

/** Recall. */
export class Recall {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Make the text for a prompt from a robot's working memory. */
  async context(fields: models.ContextBody, options: Options = {}): Promise<models.ContextAnswer> {
    return this.#sender.send({ method: "POST", path: "/v1/context", body: fields }, options);
  }

  /** Count memories over time, the earliest first. Steps without any are left out. */
  async counts(fields: models.CountsBody, options: Options = {}): Promise<models.TimeCount[]> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/timeline/counts",
        body: fields,
      },
      options,
    );
  }

  /** Show a sample of memories in two dimensions, by their vectors. */
  async map(fields: models.MapBody = {}, options: Options = {}): Promise<models.MemoryMap> {
    return this.#sender.send({ method: "POST", path: "/v1/map", body: fields }, options);
  }

  /** Recall memories. */
  async recall(fields: models.RecallBody = {}, options: Options = {}): Promise<models.Answer> {
    return this.#sender.send({ method: "POST", path: "/v1/recall", body: fields }, options);
  }

  /**
   * Recall memories, by a URL.
   *
   * POST has all parameters, and keeps the query out of the logs of proxies.
   */
  async recallSimply(
    fields: {
      /** The question or the words. */
      q: string;
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The time: `last week`, `2026-03-01..2026-04-01`, `auto`. Default: any. */
      timeframe?: string | null | undefined;
      /** A required tag, with the tags below it. */
      tag?: string | null | undefined;
      /** How it searches. Default: hybrid. */
      strategy?: models.Strategy | null | undefined;
      /** The most hits, 1 to 10,000. Default: 20. */
      limit?: number | null | undefined;
      /** Answers as the memory stood at this time. Default: now. */
      as_of?: string | null | undefined;
    },
    options: Options = {},
  ): Promise<models.Answer> {
    return this.#sender.send({ method: "GET", path: "/v1/recall", query: fields }, options);
  }

  /** List memories in chronological order. */
  async timeline(
    fields: models.TimelineBody = {},
    options: Options = {},
  ): Promise<models.TimelineAnswer> {
    return this.#sender.send({ method: "POST", path: "/v1/timeline", body: fields }, options);
  }
}

/** Robots. */
export class Robots {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Change a robot. */
  async edit(
    name: string,
    fields: models.RobotChange = {},
    options: WriteOptions = {},
  ): Promise<models.RobotStatistics> {
    return this.#sender.send(
      {
        method: "PATCH",
        path: path`/v1/robots/${name}`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read a robot with its statistics. */
  async get(
    name: string,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.RobotStatistics> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/robots/${name}`,
        query: fields,
      },
      options,
    );
  }

  /** List robots with their statistics. */
  async list(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** Whether to list all namespaces. */
      all?: boolean | null | undefined;
      /** `next` of the previous page. */
      cursor?: string | null | undefined;
      /** The most robots, 1 to 10,000. Default: 100. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.RobotPage> {
    return this.#sender.send({ method: "GET", path: "/v1/robots", query: fields }, options);
  }

  /** Merge robots into one. */
  async merge(
    fields: models.MergeRobots,
    options: WriteOptions = {},
  ): Promise<models.MergeReceipt> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/robots/merge",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Register a robot before its first memory. */
  async register(
    fields: models.NewRobot = {},
    options: WriteOptions = {},
  ): Promise<models.RobotInfo> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/robots",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Tags. */
export class Tags {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Add tags, or change their descriptions and synonyms. */
  async add(fields: models.AddTags, options: WriteOptions = {}): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/add",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Add a synonym of a tag. */
  async addSynonym(fields: models.AddSynonym, options: WriteOptions = {}): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/synonyms/add",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List pairs of tags that are on the same memories. */
  async cooccurring(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** Only pairs with this tag. */
      tag?: string | null | undefined;
      /** The fewest memories with both. Default: 2. */
      min_memories?: number | null | undefined;
      /** The most pairs. Default: 20, at most 1,000. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.CoOccurrence[]> {
    return this.#sender.send(
      {
        method: "GET",
        path: "/v1/tags/cooccurring",
        query: fields,
      },
      options,
    );
  }

  /** List pairs of tags declared distinct, by their names. */
  async distinct(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.DistinctTags[]> {
    return this.#sender.send({ method: "GET", path: "/v1/tags/distinct", query: fields }, options);
  }

  /** Export the ontology as a document. */
  async export(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.OntologyDocument> {
    return this.#sender.send({ method: "GET", path: "/v1/tags/export", query: fields }, options);
  }

  /** Read a tag: its description, synonyms, children and newest memories. */
  async get(
    tag: string,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.TagDetails> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/tags/show/${tag}`,
        query: fields,
      },
      options,
    );
  }

  /** Import an ontology document. */
  async import(
    fields: models.ImportOntology,
    options: WriteOptions = {},
  ): Promise<models.Imported> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/import",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List tags by their paths, with the number of their memories. */
  async list(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** Only this tag and those below it. */
      below?: string | null | undefined;
      /** `next` of the previous page. */
      cursor?: string | null | undefined;
      /** The most tags, 1 to 10,000. Default: 1,000. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.TagPage> {
    return this.#sender.send({ method: "GET", path: "/v1/tags", query: fields }, options);
  }

  /** List changes of the ontology, the latest first. */
  async log(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** `next` of the previous page. */
      cursor?: number | null | undefined;
      /** The most changes, 1 to 1,000. Default: 20. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Changes> {
    return this.#sender.send({ method: "GET", path: "/v1/tags/log", query: fields }, options);
  }

  /** Tell two tags apart: no merge of them is suggested. */
  async markDistinct(fields: models.TagPair, options: WriteOptions = {}): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/distinct/add",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List the memories with a tag or one below it. */
  async memories(
    tag: string,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** `next` of the previous page. */
      cursor?: number | null | undefined;
      /** The most memories. Default: 100, at most 1,000. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.TaggedNodes> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/tags/memories/${tag}`,
        query: fields,
      },
      options,
    );
  }

  /** Merge tags into one. */
  async merge(fields: models.MergeTags, options: WriteOptions = {}): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/merge",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List tags that no or few memories have. */
  async orphans(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The most memories of such a tag. Default: 0. */
      max_memories?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Orphan[]> {
    return this.#sender.send({ method: "GET", path: "/v1/tags/orphans", query: fields }, options);
  }

  /** Remove a tag. */
  async remove(fields: models.RemoveTag, options: WriteOptions = {}): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/remove",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Remove a synonym. */
  async removeSynonym(
    fields: models.RemoveSynonym,
    options: WriteOptions = {},
  ): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/synonyms/remove",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Rename a tag, with all tags below it. */
  async rename(fields: models.RenameTag, options: WriteOptions = {}): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/rename",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Revert a change of the log. */
  async revert(fields: models.RevertChange, options: WriteOptions = {}): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/revert",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List tags with a similar name, the nearest first. */
  async similar(
    fields: {
      /** The text. */
      q: string;
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The most tags. Default: 10, at most 1,000. */
      limit?: number | null | undefined;
    },
    options: Options = {},
  ): Promise<models.SimilarTag[]> {
    return this.#sender.send({ method: "GET", path: "/v1/tags/similar", query: fields }, options);
  }

  /** Split a tag into several. */
  async split(fields: models.SplitTag, options: WriteOptions = {}): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/split",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** List merges of tags that mean the same, by their names and their memories. */
  async suggestions(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
      /** The most entries. Default: 20, at most 1,000. */
      limit?: number | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Suggestion[]> {
    return this.#sender.send(
      {
        method: "GET",
        path: "/v1/tags/suggestions",
        query: fields,
      },
      options,
    );
  }

  /** List synonyms by tag. */
  async synonyms(
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Synonym[]> {
    return this.#sender.send({ method: "GET", path: "/v1/tags/synonyms", query: fields }, options);
  }

  /** Tell two tags apart no longer. */
  async unmarkDistinct(
    fields: models.TagPair,
    options: WriteOptions = {},
  ): Promise<models.Changed> {
    return this.#sender.send(
      {
        method: "POST",
        path: "/v1/tags/distinct/remove",
        body: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** Working memory. */
export class WorkingMemory {
  readonly #sender: Sender;

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /** Add memories to a robot's working memory. */
  async add(
    name: string,
    fields: models.AddNodes,
    options: WriteOptions = {},
  ): Promise<models.Intake> {
    return this.#sender.send(
      {
        method: "POST",
        path: path`/v1/robots/${name}/working-memory`,
        body: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Empty a robot's working memory. */
  async clear(
    name: string,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: WriteOptions = {},
  ): Promise<models.RemovedNodes> {
    return this.#sender.send(
      {
        method: "DELETE",
        path: path`/v1/robots/${name}/working-memory`,
        query: fields,
        takesKey: true,
      },
      options,
    );
  }

  /** Read a robot's working memory. */
  async get(
    name: string,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: Options = {},
  ): Promise<models.Working> {
    return this.#sender.send(
      {
        method: "GET",
        path: path`/v1/robots/${name}/working-memory`,
        query: fields,
      },
      options,
    );
  }

  /** Remove a memory from a robot's working memory. */
  async remove(
    name: string,
    id: number,
    fields: {
      /** The namespace. Default: the server's. */
      namespace?: string | null | undefined;
    } = {},
    options: WriteOptions = {},
  ): Promise<models.RemovedNodes> {
    return this.#sender.send(
      {
        method: "DELETE",
        path: path`/v1/robots/${name}/working-memory/${id}`,
        query: fields,
        takesKey: true,
      },
      options,
    );
  }
}

/** The operations by their subjects. */
export abstract class Subjects implements Sender {
  readonly backfills = new Backfills(this);
  readonly conversations = new Conversations(this);
  readonly documents = new Documents(this);
  readonly erasures = new Erasures(this);
  readonly files = new Files(this);
  readonly groups = new Groups(this);
  readonly jobs = new Jobs(this);
  readonly keys = new Keys(this);
  readonly learning = new Learning(this);
  readonly members = new Members(this);
  readonly memories = new Memories(this);
  readonly models = new Models(this);
  readonly namespaces = new Namespaces(this);
  readonly recall = new Recall(this);
  readonly robots = new Robots(this);
  readonly tags = new Tags(this);
  readonly workingMemory = new WorkingMemory(this);

  abstract send<Answer>(call: Call, options?: EditOptions): Promise<Answer>;
}
