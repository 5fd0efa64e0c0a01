-- What ontology_up.sql made. Ancestors that it registered stay: they are tags without nodes.
drop table htm.tag_change_names, htm.tag_change_nodes, htm.tag_changes, htm.tag_synonyms;
drop function htm.register_tags(text[], text[]);
drop function htm.canonical_tag(text, text);
drop function htm.tag_names_lock(text);
drop function htm.tag_lineage(text);
drop index htm.tags_path_trigram_idx, htm.tags_leaf_trigram_idx;
alter table htm.tags drop column description, drop column split_into;
