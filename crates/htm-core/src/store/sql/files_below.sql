-- The live memories whose keys are below a path, with the bytes of their files' texts.
--
-- :namespace text   :path text, without a `/` at its end
-- :blank text, the text of the memory of a blank file   :blank_text text, the entry of the metadata that has the text
--
-- Index: nodes_namespace_key_key. `0` is the character after `/`.
select n.id as node, n.key,
       case when n.content = :blank and n.metadata ? :blank_text
            then octet_length(n.metadata ->> :blank_text) else octet_length(n.content) end::bigint as bytes
  from htm.nodes n
 where n.namespace = :namespace and n.key >= :path || '/' and n.key < :path || '0' and n.deleted_at is null
 order by n.key
