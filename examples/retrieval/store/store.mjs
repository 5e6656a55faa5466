// Vector store of passages in one SQLite file. To use another store, implement the same methods.
import Database from 'libsql';

export class Store {
  #database;
  #contains;
  #insert;
  #nearest;

  /**
   * @param {string} file database file, created if missing; `:memory:` for none
   * @param {{ model: string, dimensions: number }} embedding model and its dimensions
   */
  constructor(file, { model, dimensions }) {
    this.#database = new Database(file);
    this.#database.exec(`
      CREATE TABLE IF NOT EXISTS embedder (model TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS passages
        (id INTEGER PRIMARY KEY, text TEXT UNIQUE NOT NULL, vector F32_BLOB(${dimensions}) NOT NULL)`);
    this.#database
      .prepare('INSERT INTO embedder SELECT ? WHERE NOT EXISTS (SELECT * FROM embedder)')
      .run(model);
    const stored = /** @type {{ model: string }} */ (
      this.#database.prepare('SELECT model FROM embedder').get()
    );
    if (stored.model !== model) {
      throw new Error(
        `${file}: contains embeddings of ${stored.model}. Use another file for ${model}`,
      );
    }
    this.#contains = this.#database.prepare('SELECT id FROM passages WHERE text = ?');
    this.#insert = this.#database.prepare(
      'INSERT OR IGNORE INTO passages (text, vector) VALUES (?, ?)',
    );
    // Exact search without an index.
    this.#nearest = this.#database.prepare(
      `SELECT text, 1 - vector_distance_cos(vector, ?) AS similarity
         FROM passages ORDER BY similarity DESC, id LIMIT ?`,
    );
  }

  /** @param {string} text */
  has(text) {
    return this.#contains.get(text) !== undefined;
  }

  /**
   * @param {readonly string[]} texts
   * @param {readonly Float32Array[]} vectors embedding of each text
   */
  add(texts, vectors) {
    const addAll = this.#database.transaction(() => {
      for (const [index, text] of texts.entries()) {
        this.#insert.run(text, bytesOf(/** @type {Float32Array} */ (vectors[index])));
      }
    });
    addAll();
  }

  /**
   * @param {Float32Array} vector
   * @param {number} count
   * @returns {{ text: string, similarity: number }[]} by descending similarity
   */
  nearest(vector, count) {
    const rows = this.#nearest.all(bytesOf(vector), count);
    return /** @type {{ text: string, similarity: number }[]} */ (rows);
  }

  close() {
    this.#database.close();
  }
}

/** @param {Float32Array} vector */
function bytesOf(vector) {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}
