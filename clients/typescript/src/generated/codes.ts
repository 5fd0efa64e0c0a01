// The codes of the server's errors. Made by `clients/generate`; do not edit.

/** The code of an error that this version of the server may answer with. */
export type ServerCode =
  /** 404: The server has no such path. */
  | "route_unknown"
  /** 405: The path has no such method. */
  | "method_unknown"
  /** 401: A request has no key of the API, and the server has keys. */
  | "api_key_missing"
  /** 401: The access token is not valid for the server. */
  | "token_invalid"
  /** 403: The access token does not say which namespaces its holder sees. */
  | "token_namespaces_unfit"
  /** 503: The keys of the authorization server cannot be fetched. */
  | "authorization_server_unreachable"
  /** 503: The settings of OAuth cannot be used. */
  | "oauth_unusable"
  /** 403: The role of the key or the token does not allow the request. */
  | "role_insufficient"
  /** 429: The key has made all requests that it may make in a minute, or its namespace has. */
  | "too_many_requests"
  /**
   * 400: The body of a request is not the JSON that the path expects, or the path takes no body.
   */
  | "body_invalid"
  /** 413: The body of a request has more bytes, or takes more memory, than the server reads. */
  | "body_too_large"
  /** 400: The client did not send the whole body. */
  | "body_incomplete"
  /** 415: The body has a content type or an encoding that the path does not read. */
  | "media_type_unfit"
  /** 400: A parameter of the query is unknown, missing or invalid. */
  | "query_invalid"
  /** 400: A part of the path is invalid. */
  | "path_invalid"
  /**
   * 400: A header is missing, is there more than once, or has a value that the server cannot read.
   */
  | "header_invalid"
  /** 414: The URI of a request has more bytes than the server reads. */
  | "uri_too_long"
  /** 431: A request has more headers, or more bytes of them, than the server reads. */
  | "headers_too_large"
  /** 403: The request names a host, or comes from a page, that the server does not serve. */
  | "host_forbidden"
  /**
   * 422: A file cannot be read as a document: it is binary, encrypted, damaged, empty or too large.
   */
  | "document_unreadable"
  /** 413: A request has more items than the server takes at once. */
  | "batch_too_large"
  /** 400: The path takes no Idempotency-Key. */
  | "idempotency_unfit"
  /** 429: The server is at its limit of concurrent requests. */
  | "too_busy"
  /** 408: The request took longer than the server allows. */
  | "request_timeout"
  /** 503: The server is stopping. */
  | "stopping"
  /** 500: The server failed unexpectedly. */
  | "internal_error"
  /** 503: The certificate or the private key of the server cannot be used. */
  | "tls_unusable"
  /** 503: The server has no keys, so it may listen on this machine only. */
  | "listen_not_loopback"
  /** 503: The server cannot listen on the address. */
  | "listen_unusable"
  /** 422: A text is empty or only white space. */
  | "content_empty"
  /** 413: A text has more bytes than a node may hold. */
  | "content_too_large"
  /** 422: A text has a NUL byte. */
  | "nul_byte"
  /** 422: A field, a query or the metadata has more bytes than it may. */
  | "field_too_long"
  /** 422: The metadata has too many levels of lists and objects. */
  | "metadata_too_deep"
  /** 422: The metadata has a number outside of -1e308 to 1e308. */
  | "metadata_number_out_of_range"
  /** 422: An importance is outside 1 to 10. */
  | "importance_out_of_range"
  /** 422: The time to live of a memory or a key, or a retention time, is too short or too long. */
  | "expiry_out_of_range"
  /** 422: An expiry has passed: the memory would be forgotten at once. */
  | "expiry_passed"
  /** 422: A namespace's name is empty, too long or has a control character. */
  | "namespace_invalid"
  /** 422: A robot's name is empty, too long or has a control character. */
  | "robot_invalid"
  /** 422: A group's name is empty, too long or has a control character. */
  | "group_invalid"
  /** 422: A key is empty, too long or has a control character. */
  | "key_invalid"
  /** 422: A time is outside of the years 1 to 9999. */
  | "time_out_of_range"
  /** 422: PostgreSQL has no text search configuration of this name. */
  | "language_unknown"
  /** 409: The key names another node. */
  | "key_taken"
  /** 409: Another node has this content already, and duplicates are not allowed there. */
  | "content_taken"
  /**
   * 503: Others changed the same rows at the same moment. Nothing was written. Only an erasure
   * keeps what it has removed: resume it.
   */
  | "contended"
  /** 503: The database failed before this one of many memories was written. */
  | "not_written"
  /** 422: A line of a file is not in the expected format. */
  | "line_invalid"
  /** 422: A line of a file is longer than any memory. */
  | "line_too_long"
  /** 422: A line of an export was given where only plain memories may be imported. */
  | "export_forbidden"
  /**
   * 422: The file is an export of another format, or of a later version than this program reads.
   */
  | "export_version"
  /**
   * 422: An export has no end line, or other line counts than it says. Or an export or import was
   * continued after an error.
   */
  | "export_incomplete"
  /**
   * 422: A vector has another length than its model has, a number that cannot be stored, only
   * zeros, or no model that takes it.
   */
  | "vector_unfit"
  /** 403: The handle does not see the namespace. */
  | "namespace_forbidden"
  /** 403: The handle acts as another robot. */
  | "robot_forbidden"
  /** 507: The quota of the namespace has no room. */
  | "quota_exceeded"
  /** 401: A key of the API is not one that was created here. */
  | "api_key_invalid"
  /** 401: A key of the API has expired. */
  | "api_key_expired"
  /** 401: A key of the API was revoked. */
  | "api_key_revoked"
  /** 404: There is no key of the API with this id. */
  | "api_key_unknown"
  /** 401: A sign-in has ended, or its key was revoked or has expired. */
  | "signed_out"
  /** 500: The operating system gave no random bytes. */
  | "no_randomness"
  /** 400: An operation's id is empty, too long or has other than visible ASCII characters. */
  | "operation_invalid"
  /** 422: An operation's id was used for another request. */
  | "operation_differs"
  /** 409: Another call has begun the operation and has not ended it. */
  | "operation_open"
  /** 410: An operation was done before, and a memory of it was erased since. */
  | "operation_erased"
  /** 422: The memories have tags of too many namespaces for one transaction. */
  | "too_many_namespaces"
  /** 404: There is no such node, or it was forgotten. */
  | "node_not_found"
  /** 403: Another robot remembered the node first. */
  | "not_owner"
  /** 409: Other robots remembered the node too. */
  | "remembered_by_others"
  /** 409: The node was edited since it was read. */
  | "revision_conflict"
  /**
   * 422: A relation is of an unknown kind, of a memory to itself, between two namespaces, or has an
   * empty reason.
   */
  | "relation_invalid"
  /**
   * 409: A relation would close a circle with another robot's, or that of an import with one here.
   */
  | "relation_cycle"
  /** 404: There is no such relation between the two memories. */
  | "relation_unknown"
  /** 404: No recall of this id is kept. */
  | "recall_unknown"
  /** 422: A feedback names no memory, too many, one of them twice, or no hit of the last recall. */
  | "feedback_invalid"
  /** 422: An author has judged the most recalls allowed in a day. */
  | "feedback_exceeded"
  /** 422: A setting of learning is outside its range, or unknown. */
  | "learning_invalid"
  /** 404: The namespace has no learnt ranking of this version. */
  | "ranking_unknown"
  /** 422: The ranking cannot be used by this program. */
  | "ranking_unusable"
  /** 409: The node to restore is not forgotten. */
  | "not_forgotten"
  /** 409: An act that removes something was not confirmed. */
  | "not_confirmed"
  /** 422: An erasure selects no memory. */
  | "nothing_to_erase"
  /** 409: Forgetting or erasing nodes by their text needs a plan. */
  | "plan_missing"
  /** 409: The memories to erase have changed since the plan was made. */
  | "erase_plan_changed"
  /** 404: There is no erasure of this number, or the handle does not see it. */
  | "erasure_unknown"
  /** 503: Memories were erased while they were exported. */
  | "erased_meanwhile"
  /** 422: A time is in the future, where only the past makes sense. */
  | "time_in_future"
  /** 503: A stage of a node was not done within the time given. */
  | "wait_timeout"
  /** 404: There is no backfill of this number, or the handle does not see it. */
  | "backfill_unknown"
  /** 503: The job of a stage is a dead letter. */
  | "stage_dead"
  /** 422: A path is not one below /memories, or the command cannot be applied to it. */
  | "file_path_invalid"
  /** 404: There is no file or directory at the path. */
  | "file_not_found"
  /** 409: There is a file or directory at the path, or a file at a path above it. */
  | "file_exists"
  /** 422: A command that edits a file names a directory. */
  | "file_is_directory"
  /** 422: The text to replace does not occur in the file exactly once. */
  | "file_edit_unfit"
  /** 422: A line number or a range of lines does not fit the file. */
  | "file_line_invalid"
  /** 422: A file has more lines than can be numbered. */
  | "file_too_many_lines"
  /** 422: A document's path is empty, too long or has a control character. */
  | "document_path_invalid"
  /** 404: The namespace has no document with this path. */
  | "document_not_found"
  /** 422: A document has no passage, or more than it may have. */
  | "document_size"
  /** 422: There is no recall strategy of this name. */
  | "strategy_unknown"
  /** 422: There is no order of a context of this name. */
  | "context_order_unknown"
  /** 422: A limit is outside its range. */
  | "limit_out_of_range"
  /** 422: A list of memories in an answer has more than 64 MiB. */
  | "answer_too_large"
  /** 422: The least similarity is outside 0 to 1. */
  | "min_similarity_out_of_range"
  /** 422: Diversity is outside 0 to 1. */
  | "diversity_out_of_range"
  /** 422: The query names only words that hits must not contain. */
  | "query_only_negations"
  /** 422: The weights of relevance are not 1 together, or one is below 0. */
  | "relevance_weights_invalid"
  /** 422: A text does not name weights of relevance. */
  | "order_by_invalid"
  /** 422: A text is not a timeframe. */
  | "timeframe_invalid"
  /** 422: A timeframe ends before it starts, or at its start. */
  | "timeframe_reversed"
  /** 422: A time has no beginning, so it is no point in time. */
  | "time_without_beginning"
  /** 422: There is no time zone of this name. */
  | "zone_unknown"
  /** 422: A text is not the cursor of a page. */
  | "cursor_invalid"
  /** 422: The grouping of a timeline is unknown. */
  | "grouping_unknown"
  /** 422: Strategy `vector` needs an embedding provider, and the handle has none. */
  | "embedder_missing"
  /** 503: The program has no embedder for the model that recall uses. */
  | "embedder_other"
  /** 422: Re-ranking was asked for, and the handle has no re-ranker. */
  | "reranker_missing"
  /** 422: Query expansion was asked for, and the handle has no language model for it. */
  | "expander_missing"
  /** 422: A node alone has more tokens than the working memory holds. */
  | "node_oversized"
  /** 422: There is no token encoding of this name. */
  | "encoding_unknown"
  /** 422: A budget in tokens is outside its range. */
  | "budget_out_of_range"
  /** 404: The namespace has no robot of this name. */
  | "robot_unknown"
  /** 409: The namespace has a robot of this name already. */
  | "robot_taken"
  /** 422: A robot cannot be merged into itself. */
  | "merge_into_itself"
  /** 422: No robot or tag to merge was named. */
  | "nothing_to_merge"
  /** 404: The namespace has no group of this name. */
  | "group_unknown"
  /** 404: The robot is no member of the group. */
  | "group_member_unknown"
  /** 409: The robot is a passive member of the group: it does not write. */
  | "group_member_passive"
  /**
   * 409: Another member took over, another process speaks for this robot now, or the robot was
   * merged.
   */
  | "group_member_replaced"
  /** 409: The member was not seen for its lease. */
  | "group_member_lost"
  /** 409: The only active member has no passive one to take over. */
  | "group_last_active"
  /** 409: The group was shut down. */
  | "group_closed"
  /** 422: The memory and the group are of different namespaces. */
  | "group_elsewhere"
  /** 422: A group cannot be transferred to itself. */
  | "group_transfer_to_itself"
  /** 422: A setting of a membership is outside its range. */
  | "group_setting_out_of_range"
  /** 422: A text is not a tag. */
  | "tag_invalid"
  /** 422: More tags were given at once than are allowed. */
  | "too_many_tags"
  /** 507: The namespace has as many tags as it may. */
  | "namespace_full"
  /** 404: The namespace has no such tag. */
  | "tag_unknown"
  /** 409: The new name is a tag already. */
  | "tag_taken"
  /** 422: A tag cannot be renamed, merged or split into itself. */
  | "tag_into_itself"
  /** 422: A tag cannot be moved below itself. */
  | "tag_into_own_child"
  /** 422: A change would give a tag a name that breaks a rule. */
  | "tag_unmovable"
  /** 409: Nodes have the tag that was to be removed, or one below it. */
  | "tag_in_use"
  /** 409: The name is a synonym of a tag. */
  | "tag_is_synonym"
  /** 409: The synonym is already a tag, or a parent of tags. */
  | "synonym_is_tag"
  /** 404: No tag of the namespace has this synonym. */
  | "synonym_unknown"
  /** 422: A tag is split into at least two tags. */
  | "nothing_to_split"
  /** 422: A tag's description has more bytes than it may. */
  | "description_too_long"
  /** 422: The ontology document has another version than this program reads. */
  | "ontology_version"
  /** 422: A tag occurs twice in an ontology document. */
  | "tag_twice"
  /** 404: The namespace's log has no change of this number. */
  | "change_unknown"
  /** 409: The change was reverted before. */
  | "change_reverted"
  /** 409: A later change altered the same name. */
  | "changed_since"
  /** 404: There is no such job, or its row was pruned. */
  | "job_not_found"
  /** 409: The job's state does not allow this action. */
  | "job_state_unfit"
  /** 404: There is no queue of this name. */
  | "queue_unknown"
  /** 404: Nothing is known of this provider or of its model. */
  | "provider_unknown"
  /** 503: A provider cannot be connected to, or the connection broke. */
  | "provider_unreachable"
  /** 504: A provider did not answer within its deadline. */
  | "provider_timeout"
  /** 503: A provider limits the rate of requests (429, or 503 with `Retry-After`). */
  | "provider_rate_limited"
  /** 503: A provider is in trouble (a 5xx answer). */
  | "provider_server_error"
  /** 422: A provider refused a text (400, 413, 422). */
  | "provider_refused_text"
  /** 503: A provider refuses every text (400, 413, 422), even a harmless one. */
  | "provider_refused_all"
  /** 503: A provider refused the key (401, 403). */
  | "provider_unauthorized"
  /** 503: The account's quota at the provider is spent. */
  | "provider_quota_exceeded"
  /** 503: The provider has no such model (404). */
  | "provider_model_not_found"
  /** 503: A provider's vectors have another length than those of the model in the database. */
  | "provider_other_dimensions"
  /** 503: A provider's answer breaks the contract. */
  | "provider_bad_response"
  /** 422: A language model gave an answer that cannot be used, twice. */
  | "provider_unusable_answer"
  /** 404: No embedding model of this label is registered. */
  | "model_unknown"
  /** 503: Nothing is embedded with the configured model yet. */
  | "model_not_ready"
  /** 409: The embedding model is retired. */
  | "model_retired"
  /** 409: The database lacks the extension of the wanted kind of vector index. */
  | "vector_index_unavailable"
  /** 409: The embedding model is the active one, and cannot be retired. */
  | "model_active"
  /** 409: Vector search would no longer find some nodes if the model were activated. */
  | "model_incomplete"
  /** 409: The vectors of the embedding model come from callers: HTM computes none. */
  | "model_of_callers"
  /** 503: A transaction that remembered something is open for too long. */
  | "writer_open"
  /** 422: A prompt's version was named for a stage without a prompt. */
  | "version_unfit"
  /** 503: The database cannot be reached. */
  | "database_unreachable"
  /** 503: The handle was closed, or its pool was. */
  | "handle_closed"
  /** 503: None of the hosts in the database's URL is a primary. */
  | "database_no_primary"
  /** 503: The database has run out of disk, memory or files. */
  | "database_exhausted"
  /** 503: A transaction needs more locks than the server has room for. */
  | "database_locks"
  /** 503: The database's URL cannot be read, or one of its parameters has an unknown value. */
  | "database_url_invalid"
  /** 503: A pooler of connections is between the program and PostgreSQL. */
  | "database_pooled"
  /** 422: A position in the write-ahead log cannot be read. */
  | "wal_position_invalid"
  /** 503: The database refuses the login or a privilege. */
  | "database_denied"
  /** 500: The database refused a statement. Transient for a deadlock, a conflict or a timeout. */
  | "database_error"
  /** 500: The database is corrupt: no version of HTM writes such data. */
  | "corrupt";
