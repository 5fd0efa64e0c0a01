-- A part of features.sql: how often a text has each word, by ts_rank of it alone (rank::frequency); which of them stand in a
-- long text's opening; which pairs stand together.
--
-- :words tsquery[]   :openings tsquery[] the same words with weight A   :pairs tsquery[]
array(select ts_rank('{1,1,1,1}', d.tsv, w.query)
        from unnest(:words::tsquery[]) with ordinality w(query, ord) order by w.ord) as ranks,
array(select w.ord::int from unnest(:openings::tsquery[]) with ordinality w(query, ord)
       where length(d.tsv) > 40 and d.tsv @@ w.query) as openings,
array(select p.ord::int from unnest(:pairs::tsquery[]) with ordinality p(query, ord) where d.tsv @@ p.query) as together
