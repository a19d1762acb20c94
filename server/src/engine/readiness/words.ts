/** Seconds as people say them: `45 s`, `5 min`, `1 h 30 min`. */
export function formatSpan(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (seconds % 60 !== 0 && minutes < 10) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (minutes < 120) return `${minutes} min`;
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
