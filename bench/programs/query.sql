-- Rows, an index, a sort and a join: what sqlite3 is recorded at.
CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 50000)
  INSERT INTO t SELECT x, x * 7919 % 1000003, 'abc' || (x * 31 % 50021) FROM n;
CREATE INDEX i ON t(b);
SELECT sum(a) FROM t WHERE b BETWEEN 1000 AND 500000;
SELECT count(*), max(c) FROM (SELECT c FROM t ORDER BY c LIMIT 40000);
SELECT count(*) FROM t x JOIN t y ON x.b = y.a WHERE y.c > 'abc3';
