import { useEffect, useState } from 'react'
import type { JsonObject } from '../../core/json.ts'
import { useCallActions } from '../call-actions.ts'

export function useToolSchema(name: string): JsonObject | undefined {
  const { readSchema } = useCallActions()
  const [schema, setSchema] = useState<JsonObject | undefined>()
  useEffect(() => {
    let isCurrent = true
    readSchema?.(name)
      .then((found) => {
        if (isCurrent) setSchema(found)
      })
      // Without the schema the form shows the existing arguments; the server checks them anyway.
      .catch(() => undefined)
    return () => {
      isCurrent = false
    }
  }, [readSchema, name])
  return schema
}
