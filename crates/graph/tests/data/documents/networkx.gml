graph [
  node [
    id 0
    label "Ada"
  ]
  node [
    id 1
    label "Bob"
  ]
  node [
    id 2
    label "Zo&#235;"
  ]
  node [
    id 3
    label "alone"
  ]
  edge [
    source 0
    target 1
    weight 2.5
  ]
  edge [
    source 1
    target 2
    weight 1.0
  ]
]
