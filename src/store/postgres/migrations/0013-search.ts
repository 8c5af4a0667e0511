import type { Migration } from './migration.ts'

/** The index of search. It is filled by the first search, so nothing is copied here. */
export const search: Migration = {
  version: 13,
  isAdditive: true,
  toSql: (schema) => `
CREATE TABLE ${schema}.search_threads (
  thread_id text COLLATE "C" PRIMARY KEY,
  incarnation text NOT NULL,
  seq bigint NOT NULL
);
CREATE TABLE ${schema}.search_texts (
  thread_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  owner_id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  words tsvector NOT NULL,
  PRIMARY KEY (thread_id, seq)
);
CREATE INDEX search_texts_by_time ON ${schema}.search_texts (owner_id, at, id);
CREATE INDEX search_texts_by_word ON ${schema}.search_texts USING gin (words);
`,
}
