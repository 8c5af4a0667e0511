/** The host's metadata of a thread, as JSON text. */
export const threadMetadata = `
ALTER TABLE threads ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
`
