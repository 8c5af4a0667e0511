/**
 * Pinned and archived threads (FK2), and who set a title where it was not a person (FK3), as JSON text. Both
 * lists are read in the order of activity, so each has its own index.
 */
export const keptThreads = `
ALTER TABLE threads ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned = 0 OR pinned = 1);
ALTER TABLE threads ADD COLUMN archived INTEGER NOT NULL DEFAULT 0 CHECK (archived = 0 OR archived = 1);
ALTER TABLE threads ADD COLUMN title_note TEXT;
CREATE INDEX threads_by_archive ON threads (owner_id, archived, activity);
CREATE INDEX threads_pinned ON threads (owner_id, archived, activity) WHERE pinned = 1;
`
