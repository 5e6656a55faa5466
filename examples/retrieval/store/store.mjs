// Passages and their vectors in one SQLite file. To use another store, write another class with these methods.
import Database from 'libsql';

export class Store {
  #database;
  #contains;
  #insert;
  #nearest;

  /**
   * @param {string} file is made where it is not there; `:memory:`: none
   * @param {{ model: string, dimensions: number }} embedder whose vectors it holds
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
    const made = /** @type {{ model: string }} */ (
      this.#database.prepare('SELECT model FROM embedder').get()
    );
    if (made.model !== model) {
      throw new Error(`${file} holds vectors of ${made.model}: take another file for ${model}`);
    }
    this.#contains = this.#database.prepare('SELECT id FROM passages WHERE text = ?');
    this.#insert = this.#database.prepare(
      'INSERT OR IGNORE INTO passages (text, vector) VALUES (?, ?)',
    );
    // Every vector is compared: no index, and no passage that an index overlooks.
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
   * @param {readonly Float32Array[]} vectors of each text
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
   * @returns {{ text: string, similarity: number }[]} the most similar first
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
