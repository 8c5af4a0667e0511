import type { ReactNode } from 'react'

const cloud = 'M7 18a4 4 0 0 1-.5-8 5.500 5.500 0 0 1 10.600-.5A3.800 3.800 0 0 1 17.500 18Z'
const sun =
  'M12 7.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9ZM12 2v2.500M12 19.500V22M2 12h2.500M19.500 12H22M5 5l1.800 1.800M17.200 17.200 19 19M19 5l-1.800 1.800M6.800 17.200 5 19'

const drawings: readonly (readonly [RegExp, readonly string[]])[] = [
  [/snow|sleet|hail/i, [cloud, 'M8.500 21v.1M12 22v.1M15.500 21v.1']],
  [
    /rain|shower|drizzle|storm|thunder/i,
    [cloud, 'M9 20.500 8.400 22M12.500 20.500l-.600 1.500M16 20.500l-.600 1.500'],
  ],
  [
    /wind|gale|breez/i,
    ['M3 9h10.500a2.500 2.500 0 1 0-2.400-3.200M3 13h15a2.500 2.500 0 1 1-2.400 3.200M3 17h7'],
  ],
  [/part|few/i, ['M8 7.200A4 4 0 0 1 15 6M8 3V1.800M3.600 5 2.700 4.100M2.800 9H1.600', cloud]],
  [/cloud|overcast|fog|mist/i, [cloud]],
]

/** By the words of a forecast; what is not known is fair weather. */
export function WeatherIcon({ condition }: { readonly condition: string }): ReactNode {
  const paths = drawings.find(([words]) => words.test(condition))?.[1] ?? [sun]
  return (
    <svg className="card-weather-icon" viewBox="0 0 24 24" aria-hidden="true">
      {paths.map((path) => (
        <path key={path} d={path} />
      ))}
    </svg>
  )
}
