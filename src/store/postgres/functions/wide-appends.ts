/** For appends that do more than add events to a turn: new messages, calls, ends, seals. */
export const wideAppends = (schema: string): string => `
CREATE OR REPLACE FUNCTION ${schema}.find_illegal(of_thread text, shown json, calls json)
RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  found_id text;
  state text;
BEGIN
  -- Whether a message of each id must be shown, or must not be, for the append to do what it does.
  IF shown IS NOT NULL THEN
    SELECT planned.id, CASE WHEN planned.wanted THEN 'absent' ELSE 'exists' END
    INTO found_id, state
    FROM json_to_recordset(shown) AS planned(id text, wanted boolean, never boolean)
    WHERE planned.never OR planned.wanted <> EXISTS (
      SELECT FROM ${schema}.messages AS known WHERE known.thread_id = of_thread
        AND known.message_id = planned.id AND known.retired_seq IS NULL OFFSET 0)
    LIMIT 1;
    IF FOUND THEN RETURN ARRAY['illegal', 'message', found_id, state]; END IF;
  END IF;

  IF calls IS NULL THEN RETURN NULL; END IF;
  SELECT planned.id, coalesce(known.life, 'absent') INTO found_id, state
  FROM json_to_recordset(calls) AS planned(id text, turn text, place integer, paths json)
  LEFT JOIN LATERAL (
    SELECT life, message_id, seq FROM ${schema}.calls
    WHERE thread_id = of_thread AND call_id = planned.id OFFSET 0) AS known ON true
  WHERE planned.paths ->> coalesce(known.life, 'absent') IS NULL
    OR known.message_id <> planned.turn
  ORDER BY known.seq NULLS LAST, planned.place LIMIT 1;
  IF FOUND THEN RETURN ARRAY['illegal', 'call', found_id, state]; END IF;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION ${schema}.write_wide(
  ids text[], starts bigint[], ends bigint[], texts text[], appends json
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  g record;
  item record;
BEGIN
  FOR g IN
    SELECT * FROM json_to_recordset(appends) AS a(
      nth integer, messages json, retired json, calls json, moves json, ending json, seal json,
      folded json)
    WHERE starts[nth] IS NOT NULL
  LOOP
    IF g.moves IS NOT NULL THEN
      FOR item IN SELECT * FROM json_to_recordset(g.moves) AS m(id text, paths json) LOOP
        UPDATE ${schema}.messages SET status = item.paths ->> status, is_sealed = false
        WHERE thread_id = ids[g.nth] AND message_id = item.id AND role = 'assistant';
      END LOOP;
    END IF;
    -- Before the new ones come, which may have the same ids.
    IF g.retired IS NOT NULL THEN
      FOR item IN SELECT * FROM json_to_recordset(g.retired) AS r(id text, place integer) LOOP
        UPDATE ${schema}.messages SET retired_seq = starts[g.nth] + item.place
        WHERE thread_id = ids[g.nth] AND message_id = item.id AND retired_seq IS NULL;
      END LOOP;
    END IF;
    IF g.messages IS NOT NULL THEN
      INSERT INTO ${schema}.messages (thread_id, seq, message_id, role, status, body, body_seq,
        is_sealed, commit_seq, created_at, retired_seq)
      SELECT ids[g.nth], starts[g.nth] + m.place, m.id, m.role, m.status, texts[m.body],
        starts[g.nth] + m.reached, m.body IS NOT NULL, ends[g.nth], m.at, starts[g.nth] + m.retired
      FROM json_to_recordset(g.messages) AS m(
        id text, place integer, role text, status text, body integer, reached integer, at bigint,
        retired integer);
    END IF;

    IF g.calls IS NOT NULL THEN
      INSERT INTO ${schema}.calls AS stored
        (thread_id, call_id, message_id, seq, name, life, input, output, model_output)
      SELECT ids[g.nth], c.id, c.turn, starts[g.nth] + c.place,
        coalesce(c.name, known.name, ''), c.paths ->> coalesce(known.life, 'absent'),
        texts[c.input], texts[c.output], texts[c.model]
      FROM json_to_recordset(g.calls) AS c(
        id text, turn text, place integer, paths json, name text,
        input integer, output integer, model integer)
      LEFT JOIN LATERAL (
        SELECT life, name FROM ${schema}.calls
        WHERE thread_id = ids[g.nth] AND call_id = c.id OFFSET 0) AS known ON true
      ON CONFLICT (thread_id, call_id) DO UPDATE SET
        name = excluded.name,
        life = excluded.life,
        input = coalesce(excluded.input, stored.input),
        output = coalesce(excluded.output, stored.output),
        model_output = coalesce(excluded.model_output, stored.model_output);
    END IF;

    CONTINUE WHEN coalesce(g.ending, g.seal) IS NULL;
    FOR item IN
      SELECT turn FROM json_array_elements_text(g.ending) AS turn
      WHERE EXISTS (
        SELECT FROM ${schema}.calls WHERE thread_id = ids[g.nth] AND message_id = turn
          AND life IN ('streaming', 'awaiting-approval', 'ready', 'running') OFFSET 0)
    LOOP
      RAISE EXCEPTION 'open-calls' USING ERRCODE = 'HF001', DETAIL = item.turn;
    END LOOP;

    FOR item IN
      SELECT turn, m.status FROM json_array_elements_text(g.seal) AS turn
      LEFT JOIN LATERAL (
        SELECT status FROM ${schema}.messages
        WHERE thread_id = ids[g.nth] AND message_id = turn
        ORDER BY seq DESC LIMIT 1) AS m ON true
      WHERE m.status IS DISTINCT FROM 'ended'
    LOOP
      RAISE EXCEPTION USING
        MESSAGE = coalesce(item.status, 'absent'), ERRCODE = 'HF001', DETAIL = item.turn;
    END LOOP;

    IF g.folded IS NOT NULL THEN
      FOR item IN SELECT * FROM json_to_recordset(g.folded) AS f(id text, body integer, reached integer)
      LOOP
        PERFORM ${schema}.seal_turn(ids[g.nth], item.id, texts[item.body],
          starts[g.nth] + item.reached, ends[g.nth]);
      END LOOP;
    END IF;
  END LOOP;
END $$;
`
