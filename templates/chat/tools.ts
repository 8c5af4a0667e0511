import { tool } from 'ai'
import type { ToolPolicy } from 'holdfast'
import { z } from 'zod'

const conditions = ['Sunny', 'Cloudy', 'Rainy', 'Windy'] as const

/** What the model may call. The demo model calls this one when it is asked for the weather in a city. */
export const tools = {
  get_weather: tool({
    description: 'The weather in a city, now.',
    inputSchema: z.object({ city: z.string().describe('The name of the city') }),
    execute: ({ city }) => ({
      city,
      // Made up. Ask a real service here.
      temperatureC: 10 + (city.length % 20),
      condition: conditions[city.length % conditions.length],
    }),
  }),
}

/** What Holdfast has to know besides: a call that may run twice, or one that a person is asked about first (`approval: 'always'`). */
export const policies: Readonly<Record<string, ToolPolicy>> = {
  get_weather: { repeatable: true },
}
