export const sealAndDelete = (schema: string): string => `
CREATE OR REPLACE FUNCTION ${schema}.seal_turn(
  of_thread text, turn text, sealed text, reached bigint, reached_commit bigint
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  place bigint;
BEGIN
  UPDATE ${schema}.messages
  SET body = sealed, body_seq = reached, commit_seq = reached_commit, is_sealed = true,
    status = 'ended'
  WHERE thread_id = of_thread AND message_id = turn AND role = 'assistant'
  RETURNING seq INTO place;
  DELETE FROM ${schema}.events
  WHERE thread_id = of_thread AND seq BETWEEN place AND reached AND message_id = turn;
END $$;

-- The thread's row goes first: an append that holds it is waited for, and its rows are then seen.
CREATE OR REPLACE FUNCTION ${schema}.delete_thread(of_thread text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM ${schema}.threads WHERE id = of_thread;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM ${schema}.messages WHERE thread_id = of_thread;
  DELETE FROM ${schema}.events WHERE thread_id = of_thread;
  DELETE FROM ${schema}.calls WHERE thread_id = of_thread;
  RETURN true;
END $$;
`
