import { crc32, deflateRawSync } from 'node:zlib';

/** A ZIP archive of one file, written as the standard says and not as the reader expects it. */
export function zipOf(name: string, text: string, { comment = '', files = 1 } = {}): Buffer {
  const data = Buffer.from(text);
  const packed = deflateRawSync(data);
  const file = Buffer.from(name);
  const shared = Buffer.alloc(26);
  shared.writeUInt16LE(20, 0);
  shared.writeUInt16LE(8, 4);
  shared.writeUInt32LE(crc32(data), 10);
  shared.writeUInt32LE(packed.length, 14);
  shared.writeUInt32LE(data.length, 18);
  shared.writeUInt16LE(file.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), shared, file, packed]);
  const entry = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
    shared,
    Buffer.alloc(14),
    file,
  ]);
  const end = Buffer.alloc(22 + comment.length);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files, 8);
  end.writeUInt16LE(files, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length, 16);
  end.writeUInt16LE(comment.length, 20);
  end.write(comment, 22, 'latin1');
  return Buffer.concat([local, entry, end]);
}
