/**
 * Messages that regenerate and edit replaced can be shown again (VR1): a hidden message has the seq of the
 * message that it followed, and each version of a message has the list of all versions. Until now nothing was
 * ever shown again, so a hidden message followed the last one before it that was not hidden at that time.
 */
export const versions = `
ALTER TABLE messages ADD COLUMN parent_seq INTEGER CHECK (parent_seq < seq);
ALTER TABLE messages ADD COLUMN versions TEXT;
ALTER TABLE threads ADD COLUMN forked_from TEXT;
UPDATE messages SET parent_seq = coalesce((
  SELECT max(p.seq) FROM messages p WHERE p.thread = messages.thread AND p.seq < messages.seq
    AND (p.retired_seq IS NULL OR p.retired_seq > messages.seq)), 0)
WHERE retired_seq IS NOT NULL;
CREATE INDEX messages_hidden ON messages (thread, parent_seq, retired_seq, seq)
  WHERE retired_seq IS NOT NULL;

DROP TRIGGER messages_keep_their_place;
CREATE TRIGGER messages_keep_their_place
BEFORE UPDATE OF thread, seq, message_id, role, retired_seq ON messages
WHEN NEW.thread <> OLD.thread OR NEW.seq <> OLD.seq OR NEW.message_id <> OLD.message_id
  OR NEW.role <> OLD.role OR NEW.retired_seq <> OLD.retired_seq
BEGIN SELECT RAISE(ABORT, 'a message keeps its place'); END;
`
