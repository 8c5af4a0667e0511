/**
 * The index of search. It is filled by the first search, so nothing is copied here. Not FTS5, which the
 * SQLite of the oldest supported Node does not have: a table of words is looked up by owner, word and text.
 */
export const search = `
CREATE TABLE search_threads (
  thread INTEGER PRIMARY KEY,
  incarnation TEXT NOT NULL,
  seq INTEGER NOT NULL
) STRICT;
CREATE TABLE search_owners (owner INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE search_texts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  owner INTEGER NOT NULL,
  thread INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  words TEXT NOT NULL,
  UNIQUE (thread, seq)
) STRICT;
CREATE INDEX search_texts_by_time ON search_texts (owner, at, id);
CREATE TABLE search_words (
  owner INTEGER NOT NULL,
  word TEXT NOT NULL,
  text INTEGER NOT NULL,
  PRIMARY KEY (owner, word, text)
) STRICT, WITHOUT ROWID;
`
