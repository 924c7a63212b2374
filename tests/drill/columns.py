"""The sum of a column of the report's table of goroutines by start function: columns.py HEADING REPORT.html"""
import re
import sys

heading, path = sys.argv[1:]
with open(path, encoding='utf-8') as f:
    page = f.read()
table = page[page.index('<caption>Goroutines by start function</caption>'):]
head, body = table[:table.index('</table>')].split('<tbody>')
column = re.findall(r'<th [^>]*>([^<]*)', head).index(heading)
print(sum(int(re.findall(r'<td([^>]*)', row)[column].split('data-v="')[1].split('"')[0]) for row in body.split('<tr>')[1:]))
