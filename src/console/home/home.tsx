/** Home: is my data all right? */
export function Home() {
  return <h1>Home</h1>;
}
