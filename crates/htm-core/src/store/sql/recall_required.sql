-- A condition of recall.sql, beside visible.sql, when the query has phrases or a `-word`: the node m has the phrases, and
-- nothing of what it may not have. $30 is the query's signs.
       and (not exists (select from sign where kind = 'phrase') or m.id in (select id from phrased))
       and not exists (select from barred b where m.tsv @@ b.query or m.content ~* b.pattern)
