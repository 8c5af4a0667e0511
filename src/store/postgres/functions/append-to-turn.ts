/**
 * Facts of a turn that goes on, and of calls of it. Nulls are returned, or HF002 is raised, where this
 * way is closed; then nothing was written.
 *
 * `facts` has the text of each event, `packed` those of the calls, one per line: a JSON text has no
 * line break of its own, so nothing is escaped on the way.
 */
export const appendToTurn = (schema: string): string => `
CREATE OR REPLACE FUNCTION ${schema}.append_to_turn(
  of_thread text, turn text, statuses text[], holding bigint, renew_ms bigint, expected bigint,
  facts text, times bigint[], of_calls text[], changes json, packed text,
  OUT reached bigint, OUT stopping boolean
) LANGUAGE plpgsql AS $$
DECLARE
  size CONSTANT integer := cardinality(times);
  texts CONSTANT text[] := string_to_array(packed, chr(10));
  g record;
  changed integer;
  added integer;
BEGIN
  UPDATE ${schema}.threads SET seq = seq + size, lease_until = CASE WHEN renew_ms IS NULL
    THEN lease_until ELSE clock_timestamp() + renew_ms * interval '1 millisecond' END
  WHERE id = of_thread AND seq = coalesce(expected, seq)
    AND (holding IS NULL OR (fence = holding AND lease_holder IS NOT NULL))
  RETURNING seq, lease_holder IS NOT NULL AND stop_fence = fence INTO reached, stopping;
  IF NOT FOUND THEN RETURN; END IF;

  PERFORM FROM ${schema}.messages WHERE thread_id = of_thread AND message_id = turn
    AND status = ANY (statuses);
  IF NOT FOUND THEN RAISE EXCEPTION 'closed' USING ERRCODE = 'HF002'; END IF;

  FOR g IN SELECT * FROM json_to_recordset(changes) AS r(known text[], is_new boolean, calls json)
  LOOP
    -- By way of the conflict each is a probe of the primary key, whatever the planner guesses.
    WITH written AS (
      INSERT INTO ${schema}.calls AS stored
        (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
      SELECT of_thread, c.id, turn, reached - size + c.place, coalesce(c.name, ''), c.life,
        texts[c.input], texts[c.output], texts[c.model]
      FROM json_to_recordset(g.calls) AS c(id text, place integer, name text, life text,
        input integer, output integer, model integer)
      ON CONFLICT (thread_id, call_id) DO UPDATE SET life = excluded.life,
        name = coalesce(nullif(excluded.name, ''), stored.name),
        input = coalesce(excluded.input, stored.input),
        output = excluded.output, model_output = excluded.model_output
      WHERE stored.message_id = turn AND stored.life = ANY (g.known)
      RETURNING seq
    ) SELECT count(*), count(*) FILTER (WHERE seq > reached - size) INTO changed, added FROM written;
    IF changed < json_array_length(g.calls) OR (added > 0 AND NOT g.is_new) THEN
      RAISE EXCEPTION 'closed' USING ERRCODE = 'HF002';
    END IF;
  END LOOP;

  INSERT INTO ${schema}.events (thread_id, seq, commit_seq, message_id, call_id, at, payload)
  SELECT of_thread, reached - size + e.place, reached, turn, e.call_id, e.at, e.payload
  FROM unnest(times, of_calls, string_to_array(facts, chr(10)))
    WITH ORDINALITY AS e(at, call_id, payload, place);
END $$;
`
