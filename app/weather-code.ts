/** The codes of the World Meteorological Organization, as Open-Meteo uses them, up to the given one. */
const conditions: readonly (readonly [code: number, words: string])[] = [
  [0, 'Clear'],
  [1, 'Mostly clear'],
  [2, 'Partly cloudy'],
  [3, 'Overcast'],
  [48, 'Fog'],
  [57, 'Drizzle'],
  [67, 'Rain'],
  [77, 'Snow'],
  [82, 'Rain showers'],
  [86, 'Snow showers'],
  [99, 'Thunderstorm'],
]

export const conditionOf = (code: number): string =>
  conditions.find(([last]) => code <= last)?.[1] ?? 'Unknown'
