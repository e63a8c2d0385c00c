"""Words counted, a tree, JSON: what python3 is recorded at. Reads the file "text"."""
import json
import re


class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None


def insert(node, key):
    while node.key != key:
        side = "left" if key < node.key else "right"
        below = getattr(node, side)
        if below is None:
            setattr(node, side, Node(key))
            return
        node = below


with open("text") as file:
    words = re.findall("[a-z]+", file.read(400000))
count = {}
for word in words:
    count[word] = count.get(word, 0) + 1
top = sorted(count.items(), key=lambda item: (-item[1], item[0]))[:20]
root, x = Node(500000), 1
for _ in range(6000):
    x = x * 1103515245 + 12345 & 0x7FFFFFFF
    insert(root, x % 1000000)
print(len(words), json.dumps(top), len(json.dumps([word.upper() for word in words])))
