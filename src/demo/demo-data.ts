/** Marks the data as invented: the same city or ticker always gives the same numbers. */
export const demoSource = 'demo data, not real'

/** A number from 0 to `below` - 1 that is derived from the text. */
function pick(text: string, below: number): number {
  let hash = 2_166_136_261
  for (const char of text.toLowerCase()) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16_777_619)
  }
  return (hash >>> 0) % below
}

const conditions = ['Sunny', 'Partly cloudy', 'Cloudy', 'Light rain', 'Windy', 'Snow'] as const
const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'] as const

function conditionOf(key: string, temperatureC: number): string {
  const condition = conditions[pick(key, conditions.length)] ?? conditions[0]
  return condition === 'Snow' && temperatureC > 2 ? 'Light rain' : condition
}

export function weatherIn(city: string) {
  const temperatureC = pick(city, 30) - 2
  return {
    city,
    temperatureC,
    feelsLikeC: temperatureC - pick(`${city} feels`, 4),
    condition: conditionOf(city, temperatureC),
    humidityPercent: 40 + pick(`${city} humidity`, 50),
    windKph: 3 + pick(`${city} wind`, 40),
    forecast: days.map((day) => {
      const highC = temperatureC + pick(`${city} ${day}`, 7) - 3
      return {
        day,
        highC,
        lowC: highC - 4 - pick(day, 4),
        condition: conditionOf(`${city} ${day}`, highC),
      }
    }),
  }
}

const timeZones: Readonly<Record<string, string>> = {
  amsterdam: 'Europe/Amsterdam',
  berlin: 'Europe/Berlin',
  london: 'Europe/London',
  'new york': 'America/New_York',
  paris: 'Europe/Paris',
  rome: 'Europe/Rome',
  'san francisco': 'America/Los_Angeles',
  sydney: 'Australia/Sydney',
  tokyo: 'Asia/Tokyo',
  vienna: 'Europe/Vienna',
}

export function timeIn(city: string, now: number) {
  const key = city.toLowerCase()
  const timeZone = Object.hasOwn(timeZones, key) ? (timeZones[key] ?? 'UTC') : 'UTC'
  const localTime = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hour: '2-digit',
    minute: '2-digit',
  }).format(now)
  return { city, timeZone, localTime }
}

const firstDay = Date.UTC(2025, 0, 2)
const dayMs = 86_400_000

export function stockOf(ticker: string) {
  const name = ticker.toUpperCase()
  const history: { readonly date: string; readonly close: number }[] = []
  let close = 40 + pick(name, 400)
  for (let day = 0; day < 30; day++) {
    close = Math.max(1, close + (pick(`${name} ${day}`, 900) - 440) / 100)
    const date = new Date(firstDay + day * dayMs).toISOString().slice(0, 10)
    history.push({ date, close: Math.round(close * 100) / 100 })
  }
  const [before, last] = history.slice(-2)
  const price = last?.close ?? 0
  const change = Math.round((price - (before?.close ?? price)) * 100) / 100
  const changePercent = Math.round((change / (before?.close ?? 1)) * 10_000) / 100
  return { ticker: name, currency: 'USD', price, change, changePercent, history }
}

const formulas = {
  rsi: `period = Param("RSI period", 14, 2, 50);
Buy = Cross(RSI(period), 30);
Sell = Cross(70, RSI(period));
Plot(RSI(period), "RSI", colorBlue);`,
  breakout: `range = Param("Bars", 20, 5, 100);
Buy = C > Ref(HHV(H, range), -1);
Sell = C < Ref(LLV(L, range), -1);
Plot(C, "Close", colorDefault, styleCandle);`,
  average: `fast = MA(C, Param("Fast", 10, 2, 50));
slow = MA(C, Param("Slow", 30, 5, 200));
Buy = Cross(fast, slow);
Sell = Cross(slow, fast);
Plot(C, "Close", colorDefault, styleCandle);
Plot(fast, "Fast", colorGreen);
Plot(slow, "Slow", colorRed);`,
} as const

export function aflCodeFor(subject: string) {
  const kind = /rsi/i.test(subject) ? 'rsi' : /break ?out/i.test(subject) ? 'breakout' : 'average'
  return { subject, language: 'afl', code: `// ${subject}\n${formulas[kind]}` }
}
